// SPDX-License-Identifier: GPL-2.0
/* Waits for the end of set-up */
#include <linux/sched/signal.h>
#include <net/sock.h>
#include "wait.h"

/* Wait while set-up is under way, for up to @timeo jiffies, which it lowers. Returns 0, or
 * -EPIPE if another thread has disconnected the socket, and perhaps connected it anew. Socket
 * lock, which is released meanwhile.
 */
int sstp_wait_connect(struct sock *sk, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	add_wait_queue(sk_sleep(sk), &wait);
	while (sk->sk_state == TCP_SYN_SENT && err >= 0 && *timeo &&
	       !signal_pending(current))
		err = sk_wait_event(sk, timeo,
				    READ_ONCE(sk->sk_state) != TCP_SYN_SENT,
				    &wait);
	remove_wait_queue(sk_sleep(sk), &wait);
	return min(err, 0);
}
