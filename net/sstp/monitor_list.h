/* SPDX-License-Identifier: GPL-2.0 */
/* tools/ynl-regen writes this file from struct sstp_monitor in
 * include/uapi/linux/sstp.h; do not edit it. Where the file is included,
 * SSTP_MONITOR_COUNT(field) may be defined, for each counter, and SSTP_MONITOR_NOW(field),
 * for each other field of struct sstp_info in it.
 */
#define SSTP_MONITOR_COUNTS	15

#ifdef SSTP_MONITOR_COUNT
SSTP_MONITOR_COUNT(age)
SSTP_MONITOR_COUNT(packets_sent)
SSTP_MONITOR_COUNT(packets_retrans)
SSTP_MONITOR_COUNT(packets_lost)
SSTP_MONITOR_COUNT(packets_received)
SSTP_MONITOR_COUNT(packets_duplicate)
SSTP_MONITOR_COUNT(packets_discarded)
SSTP_MONITOR_COUNT(bytes_sent)
SSTP_MONITOR_COUNT(bytes_retrans)
SSTP_MONITOR_COUNT(bytes_acked)
SSTP_MONITOR_COUNT(bytes_received)
SSTP_MONITOR_COUNT(acks_sent)
SSTP_MONITOR_COUNT(acks_received)
SSTP_MONITOR_COUNT(snaks_sent)
SSTP_MONITOR_COUNT(snaks_received)
#endif

#ifdef SSTP_MONITOR_NOW
SSTP_MONITOR_NOW(acked_rate)
SSTP_MONITOR_NOW(delivery_rate)
SSTP_MONITOR_NOW(arrival_rate)
SSTP_MONITOR_NOW(service_rate)
SSTP_MONITOR_NOW(period)
SSTP_MONITOR_NOW(app_limited)
SSTP_MONITOR_NOW(rtt)
SSTP_MONITOR_NOW(rttvar)
SSTP_MONITOR_NOW(rtt_min)
SSTP_MONITOR_NOW(rto)
SSTP_MONITOR_NOW(cwnd)
SSTP_MONITOR_NOW(in_flight)
SSTP_MONITOR_NOW(snd_window)
SSTP_MONITOR_NOW(mtu)
SSTP_MONITOR_NOW(packet_size)
SSTP_MONITOR_NOW(snd_unacked)
#endif
