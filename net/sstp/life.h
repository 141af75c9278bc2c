/* SPDX-License-Identifier: GPL-2.0 */
/* Keep-alive of an idle connection, and the end of one that nobody has any more. */
#ifndef _SSTP_LIFE_H
#define _SSTP_LIFE_H

struct sock;

void sstp_life(struct sock *sk);

#endif /* _SSTP_LIFE_H */
