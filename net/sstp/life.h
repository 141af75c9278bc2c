/* SPDX-License-Identifier: GPL-2.0 */
/* Keep-alive of idle connections, and the end of orphans and of connections in CLOSING */
#ifndef _SSTP_LIFE_H
#define _SSTP_LIFE_H

struct sock;

void sstp_life(struct sock *sk);

#endif /* _SSTP_LIFE_H */
