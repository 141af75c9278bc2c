/* SPDX-License-Identifier: GPL-2.0 */
/* shutdown() and close(): the program ends a direction, or the connection. */
#ifndef _SSTP_CLOSE_H
#define _SSTP_CLOSE_H

struct socket;

int sstp_shutdown(struct socket *sock, int how);
int sstp_release(struct socket *sock);

#endif /* _SSTP_CLOSE_H */
