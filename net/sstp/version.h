/* SPDX-License-Identifier: GPL-2.0 */
/* The version of all that is in this tree: dkms.conf, documents and manual pages repeat
 * it, and selftests/host/docs.sh compares.
 */
#ifndef _SSTP_VERSION_H
#define _SSTP_VERSION_H

#define SSTP_RELEASE	"0.1.0"

#endif /* _SSTP_VERSION_H */
