# SPDX-License-Identifier: GPL-2.0
"""AF_SSTP for the module socket: see sstp(7) and <linux/sstp.h>."""

import collections
import socket
import struct

AF_SSTP, SOL_SSTP = 25, 345

(SSTP_RATE, SSTP_RATE_LIMIT, SSTP_SEGMENT_SIZE, SSTP_SEGMENT_LIMIT, SSTP_TOLERANCE,
 SSTP_ACK_STRATEGY, SSTP_WINDOW_FACTOR, SSTP_CONTROLLER, SSTP_BUFFER_POLICY,
 SSTP_USER_TIMEOUT, SSTP_NODELAY, SSTP_INFO, SSTP_WINDOW_CLAMP,
 SSTP_POLICY_PARAM, SSTP_POOL, SSTP_CONTROLLER_PARAM, SSTP_MONITOR) = range(1, 18)

SSTP_ACK_HARD, SSTP_ACK_SOFT = 0, 1

SSTP_GAPS = 1
GAP = struct.Struct("=II")
GAPS_SPACE = socket.CMSG_SPACE(4096 * GAP.size)     # the kernel lists at most 4096

# Fields of struct sstp_info, in which those of the contract are inlined
FIELDS = (
    ("B", "state type ack_strategy backoff"),
    ("I", "mtu packet_size segment_limit tolerance rtt rttvar rtt_min cwnd in_flight"),
    ("Q", "peak average"),
    ("I", "burst_rate burst_len"),
    ("Q", "period"),
    ("I", "snd_segment snd_una snd_window snd_queued rcv_segment rcv_window "
          "rcv_buffer rcv_queued rcv_peak reordering"),
    ("Q", "bytes_sent bytes_retrans bytes_acked bytes_received packets_sent "
          "packets_retrans packets_received packets_duplicate packets_discarded "
          "segments_sent segments_received segments_with_gaps acks_sent acks_received "
          "snaks_sent snaks_received arrival_rate service_rate delivery_rate"),
    ("16s", "controller policy"),
    ("I", "rcv_buffer_peak rcv_grown rcv_shrunk reserved"),
    ("Q", "rcv_grown_bytes rcv_shrunk_bytes bytes_discarded age busy_time contract_time "
          "controller_time window_time sndbuf_time device_time unread_time rcv_readable "
          "packets_lost mem_available"),
    ("I", "mem_used rcv_epochs rcv_bounded snd_unacked contract_breaks contract_wait"),
    ("Q", "acked_rate"),
    ("I", "app_limited rto ecn ecn_agreed"),
    ("Q", "packets_marked packets_marked_in"),
)
INFO = struct.Struct("@" + "".join(code * len(names.split()) for code, names in FIELDS))
Info = collections.namedtuple("Info", " ".join(names for _, names in FIELDS))

# Fields of struct sstp_monitor; "QQ" is struct sstp_count
MONITOR_FIELDS = (
    ("QQ", "age packets_sent packets_retrans packets_lost packets_received "
           "packets_duplicate packets_discarded bytes_sent bytes_retrans bytes_acked "
           "bytes_received acks_sent acks_received snaks_sent snaks_received"),
    ("Q", "send_rate receive_rate acked_rate delivery_rate arrival_rate service_rate period"),
    ("I", "loss_rate app_limited rtt rttvar rtt_min rto cwnd in_flight snd_window mtu "
          "packet_size snd_unacked"),
)
MONITOR = struct.Struct("@" + "".join(code * len(names.split())
                                      for code, names in MONITOR_FIELDS))
Monitor = collections.namedtuple("Monitor", " ".join(names for _, names in MONITOR_FIELDS))
Count = collections.namedtuple("Count", "total recent")


def new(family, kind=socket.SOCK_SEQPACKET):
    """Return a socket for addresses of family AF_INET or AF_INET6. Python's socket module
    does not know addresses of AF_SSTP, so the object has this family.
    """
    fd = socket.socket(AF_SSTP, kind).detach()
    return socket.socket(family, kind, 0, fileno=fd)


# struct sstp_param
PARAM = struct.Struct("=16sq")
PARAMS_SPACE = (8 + 8) * PARAM.size


def set_params(sock, option, **values):
    """Set parameters of the policy (@option SSTP_POLICY_PARAM) or the controller
    (SSTP_CONTROLLER_PARAM), e.g. epoch=50; 0 stands for the default.
    """
    sock.setsockopt(SOL_SSTP, option, b"".join(PARAM.pack(name.encode(), value)
                                               for name, value in values.items()))


def get_params(sock, option):
    """Return the parameters, and the state once there is a connection, as a dictionary."""
    params = sock.getsockopt(SOL_SSTP, option, PARAMS_SPACE)
    return {name.rstrip(b"\0").decode(): value for name, value in PARAM.iter_unpack(params)}


def set_rate(sock, peak, average=0, burst_rate=0, burst_len=0):
    """Set the contract: @peak and @average in bit/s, F (@burst_rate) in bursts per 1000 s, L
    (@burst_len) in packets. The kernel derives values that are 0 from the others.
    """
    sock.setsockopt(SOL_SSTP, SSTP_RATE,
                    struct.pack("=QQII", peak, average, burst_rate, burst_len))


def info(sock):
    """Return struct sstp_info; fields that an older kernel does not have are 0."""
    data = sock.getsockopt(SOL_SSTP, SSTP_INFO, INFO.size)
    values = INFO.unpack(data.ljust(INFO.size, b"\0"))
    return Info(*(v.rstrip(b"\0").decode() if isinstance(v, bytes) else v
                  for v in values))


def monitor(sock):
    """Return struct sstp_monitor, in which each counter is a Count: since the set-up, and since
    the last call for this socket.
    """
    data = sock.getsockopt(SOL_SSTP, SSTP_MONITOR, MONITOR.size)
    values = iter(MONITOR.unpack(data.ljust(MONITOR.size, b"\0")))
    return Monitor(*(Count(next(values), next(values)) if code == "QQ" else next(values)
                     for code, names in MONITOR_FIELDS for _ in names.split()))


def receive(sock, size):
    """Return a segment, the (offset, length) of each of its gaps, and whether the list is
    complete. Missing bytes read as 0. A segment of b"" is the end of the stream.
    """
    data, control, flags, _ = sock.recvmsg(size, GAPS_SPACE)
    gaps = []
    for level, kind, body in control:
        if (level, kind) == (SOL_SSTP, SSTP_GAPS):
            gaps += GAP.iter_unpack(body)
    return data, gaps, not flags & socket.MSG_CTRUNC
