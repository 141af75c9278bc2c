#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Two sockets name the controller argv[1]. When it is gone, which a line of input tells, one of them
listens and the other connects to it. Prints "named" before, and then the controllers of both
ends."""

import socket
import sys

IPPROTO_SSTP, SOL_SSTP, SSTP_CONTROLLER = 260, 345, 8


def named(name):
    """Return a socket that is not connected and names the controller @name."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SSTP)
    sock.settimeout(60)
    sock.setsockopt(SOL_SSTP, SSTP_CONTROLLER, name.encode())
    return sock


def controller(sock):
    return sock.getsockopt(SOL_SSTP, SSTP_CONTROLLER, 16).rstrip(b"\0").decode()


def main():
    listener, client = named(sys.argv[1]), named(sys.argv[1])
    listener.bind(("127.0.0.1", 0))
    print("named", flush=True)
    sys.stdin.readline()
    listener.listen()
    client.connect(listener.getsockname())
    server = listener.accept()[0]
    server.settimeout(60)
    client.sendall(b"x")
    if server.recv(1) != b"x":
        sys.exit("no data")
    print(controller(client), controller(server), flush=True)


if __name__ == "__main__":
    main()
