# SPDX-License-Identifier: GPL-2.0
"""Cases of run_time.sh: programs that know nothing of SSTP, and how long they wait.

  python3 run_time.py CASE ARGUMENT...
"""

import asyncio
import errno
import os
import select
import socket
import sys
import time

from run_cases import is_sstp

TIMER = 0.0021  # simulated: of the timers of netem, twice on the way


def within(what, seconds, most):
    print(f"{what}: {seconds * 1000:.1f} ms")
    if seconds > most / 1000 + TIMER:
        raise SystemExit(f"{what} took {seconds * 1000:.1f} ms, not {most}")


def connect(host, port, kind, how, call, done):
    """A connection of that kind, and how long it took"""
    sock = socket.socket()
    sock.setblocking(how == "waits")
    begin = time.monotonic()
    error = sock.connect_ex((host, int(port)))
    called = time.monotonic() - begin
    if how != "waits":
        assert error == errno.EINPROGRESS, os.strerror(error)
        assert select.select([], [sock], [], 30)[1], "it never connects"
        error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) if how == "polls" else \
            sock.connect_ex((host, int(port)))
    assert not error, os.strerror(error)
    took = time.monotonic() - begin
    assert is_sstp(sock) == (kind == "sstp"), "it is the other protocol"
    sock.setblocking(True)
    sock.sendall(b"ping")
    assert sock.recv(4, socket.MSG_WAITALL) == b"ping"
    within("connect()", called, int(call))
    within("connected", took, int(done))


def again(host, port, pause, call):
    """A second connect() later, which takes exactly so long as it does not know enough"""
    connect(host, port, "sstp", "waits", 20, 20)
    time.sleep(int(pause))
    sock = socket.socket()
    sock.setblocking(False)
    begin = time.monotonic()
    sock.connect_ex((host, int(port)))
    took = time.monotonic() - begin
    within("connect()", took, int(call))
    assert took >= int(call) / 1000, "connect() did not wait"


def dead(host, port, call):
    sock = socket.socket()
    sock.setblocking(False)
    begin = time.monotonic()
    assert sock.connect_ex((host, int(port))) == errno.EINPROGRESS
    within("connect()", time.monotonic() - begin, int(call))


def refused(host, port):
    """However it is asked"""
    for how in "polls", "asks", "waits", "polls", "asks":
        sock = socket.socket()
        sock.setblocking(how == "waits")
        error = sock.connect_ex((host, int(port)))
        if how != "waits":
            assert error == errno.EINPROGRESS, os.strerror(error)
            select.select([], [sock], [], 30)
            error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) if how == "polls" \
                else sock.connect_ex((host, int(port)))
        assert error == errno.ECONNREFUSED, f"{how}: {os.strerror(error)}"


async def echo(reader, writer):
    """What comes goes back; but "send N" is answered by N bytes."""
    while data := await reader.read(65536):
        writer.write(bytes(int(data[5:])) if data.startswith(b"send ") else data)
        await writer.drain()
    writer.close()


def serve(port):
    async def run():
        server = await asyncio.start_server(echo, "0.0.0.0", int(port), backlog=512)
        print("listening")
        await server.serve_forever()

    asyncio.run(run())


def sink(port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("", int(port)))
    print("listening")
    while True:
        sock.recv(65536)


async def ask(host, port):
    """A request, and its answer"""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"request")
    assert await reader.readexactly(7) == b"request"
    writer.close()


def many(host, port, number):
    async def run():
        begin = time.monotonic()
        await asyncio.gather(*(ask(host, int(port)) for _ in range(int(number))))
        print(time.monotonic() - begin)

    asyncio.run(run())


def keep(host, port, number):
    """One after the other on a connection: a request of some packets, and as much back"""
    async def run():
        reader, writer = await asyncio.open_connection(host, int(port))
        begin = time.monotonic()
        for _ in range(int(number)):
            writer.write(b"request, " * 1000)
            await reader.readexactly(9000)
        print(time.monotonic() - begin)
        writer.close()

    asyncio.run(run())


def kept(host, port, number):
    """Some connections that are kept, on each small and large requests with pauses between
    them. As those of many proxies, the client does not set TCP_NODELAY. Prints the time
    without the pauses.
    """
    sizes = 7, 7, 100, 7, 9000
    pauses = 0, 0, 0, 0, 2

    async def client():
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        took = 0
        for i in range(int(number)):
            begin = time.monotonic()
            writer.write(b"r" * sizes[i % len(sizes)])
            await reader.readexactly(sizes[i % len(sizes)])
            took += time.monotonic() - begin
            await asyncio.sleep(pauses[i % len(pauses)])
        writer.close()
        return took

    async def run():
        print(sum(await asyncio.gather(*(client() for _ in range(4)))))

    asyncio.run(run())


def answers(host, port, clients, size, number):
    """Small requests and large answers, each after the one before it, on connections that are kept:
    first some short answers, then those of @size
    """
    async def client():
        reader, writer = await asyncio.open_connection(host, int(port))
        for n in [10000] * 20 + [int(size)] * int(number):
            writer.write(b"send %d" % n)
            await reader.readexactly(n)
        writer.close()

    async def run():
        begin = time.monotonic()
        await asyncio.gather(*(client() for _ in range(int(clients))))
        print(time.monotonic() - begin)

    asyncio.run(run())


def fresh(host, port, clients, size, number):
    """A connection for each answer"""
    async def client():
        for _ in range(int(number)):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"send %d" % int(size))
            await reader.readexactly(int(size))
            writer.close()

    async def run():
        begin = time.monotonic()
        await asyncio.gather(*(client() for _ in range(int(clients))))
        print(time.monotonic() - begin)

    asyncio.run(run())


def proxy(host, port, number):
    """Clients of its own, 20 at a time, and for each request a connection to the server"""
    async def forward(reader, writer):
        request = await reader.readexactly(7)
        up_reader, up_writer = await asyncio.open_connection(host, int(port))
        up_writer.write(request)
        writer.write(await up_reader.readexactly(7))
        up_writer.close()
        await writer.drain()
        writer.close()

    async def client(at, requests):
        for _ in range(requests):
            await ask("127.0.0.1", at)

    async def run():
        server = await asyncio.start_server(forward, "127.0.0.1", 0)
        at = server.sockets[0].getsockname()[1]
        await ask("127.0.0.1", at)
        begin = time.monotonic()
        await asyncio.gather(*(client(at, int(number) // 20) for _ in range(20)))
        print(time.monotonic() - begin)

    asyncio.run(run())


CASES = {"connect": connect, "again": again, "dead": dead, "refused": refused, "serve": serve, "sink": sink,
         "many": many, "proxy": proxy, "keep": keep, "kept": kept,
         "answers": answers, "fresh": fresh}

if __name__ == "__main__":
    CASES[sys.argv[1]](*sys.argv[2:])
