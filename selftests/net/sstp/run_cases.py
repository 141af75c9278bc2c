# SPDX-License-Identifier: GPL-2.0
"""Cases of run.sh: a program that knows nothing of SSTP, to be run under sstp-run.

  python3 run_cases.py CASE [ARGUMENT...]
  python3 run_cases.py alone    those that need no peer, a line "ok CASE" for each

Only where it says so do they look behind the curtain: an option of SSTP's level
tells what a socket really is.
"""

# pylint: disable=import-outside-toplevel # what takes long, where it is needed

import errno
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback

SOL_SSTP = 345
SSTP_RATE, SSTP_CONTROLLER, SSTP_BUFFER_POLICY, SSTP_NODELAY = 1, 8, 9, 11
MSG_FASTOPEN, TCP_FASTOPEN_CONNECT = 0x20000000, 30
CLOSE_RANGE_UNSHARE = 2
EPOLLEXCLUSIVE = 1 << 28
SO_DOMAIN, SO_PROTOCOL, SO_TIMESTAMP = 39, 38, 29


def is_sstp(sock):
    try:
        sock.getsockopt(SOL_SSTP, SSTP_NODELAY)
        return True
    except OSError:
        return False


def equal(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def fails(error, function, *args):
    try:
        function(*args)
    except OSError as e:
        equal(e.errno, error)
        return
    raise AssertionError(f"succeeds instead of {errno.errorcode[error]}")


def counter(name):
    with open("/proc/net/sstp_snmp", encoding="ascii") as lines:
        return int(dict(line.split() for line in lines)[name])


def listener(family=socket.AF_INET, address="127.0.0.1", tcp=False):
    sock = socket.socket(family, socket.SOCK_STREAM)
    if tcp:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
    sock.bind((address, 0))
    sock.listen(512)
    return sock


def client(to, tcp=False):
    """Connected; what SSTP cannot do keeps a socket with TCP."""
    sock = socket.socket(to.family, socket.SOCK_STREAM)
    if tcp:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
    sock.connect(to.getsockname()[:2])
    equal(is_sstp(sock), not tcp)
    return sock


def meet(to, tcp=False):
    """Both ends of a connection that was tried out."""
    ours = client(to, tcp)
    theirs, name = to.accept()
    equal(name, ours.getsockname())
    equal(theirs.getpeername(), name)
    equal(is_sstp(theirs), not tcp)
    for one, other in (ours, theirs), (theirs, ours):
        one.sendall(b"hello")
        equal(other.recv(5, socket.MSG_WAITALL), b"hello")
    return ours, theirs


# --- with a peer -----------------------------------------------------------------

def http(host, port, path):
    """Of one that blocks, and of one that does not."""
    import asyncio
    request = b"GET /file HTTP/1.0\r\n\r\n"

    def get():
        with socket.create_connection((host, int(port))) as sock:
            sock.sendall(request)
            return sock.makefile("rb").read()

    async def get_async():
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(request)
        data = await reader.read()
        writer.close()
        return data

    with open(path, "rb") as f:
        content = f.read()
    for reply in get(), asyncio.run(get_async()):
        assert reply.partition(b"\r\n\r\n")[2] == content, "other content"


def serve(port):
    """Sends back what comes; IPv4 and IPv6 have a socket each."""
    import asyncio

    async def echo(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def run():
        server = await asyncio.start_server(echo, None, int(port))
        await server.serve_forever()

    asyncio.run(run())


def asyncio_client(host, port):
    import asyncio

    async def one():
        data = os.urandom(100000)
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(data)
        writer.write_eof()
        assert await reader.read() == data, "other content"
        writer.close()

    async def run():
        await asyncio.gather(*(one() for _ in range(8)))

    asyncio.run(run())


def daemon(host, port):
    """Closes all that it has, and is nobody; then it connects."""
    os.chdir("/")
    os.closerange(0, 65536)
    for _ in range(3):
        os.open("/dev/null", os.O_RDWR)
    os.setuid(65534)
    assert is_sstp(socket.create_connection((host, int(port))))


def silent(host, port):
    before = counter("ActiveOpens")
    # The silent service is remembered for 10 s: connect again before anything else.
    both = [socket.create_connection((host, int(port))) for _ in range(2)]
    equal(counter("ActiveOpens") - before, 1)
    for sock in both:
        assert not is_sstp(sock)
        sock.sendall(b"x")
        equal(sock.recv(1), b"x")


def late(host, port):
    """The answer takes its time: a signal comes first, then somebody takes the number."""
    def connect(sock):
        sock.connect((host, int(port)))

    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    with socket.socket() as sock:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        connect(sock)
        equal((is_sstp(sock), rung), (True, [1]))
        sock.sendall(b"x")
        equal(sock.recv(1), b"x")
    sock, null = socket.socket(), os.open("/dev/null", os.O_RDONLY)
    before, got = counter("ActiveOpens"), []

    def connect_in_vain():
        try:
            got.append(connect(sock))
        except OSError as e:
            got.append(e.errno)

    one = threading.Thread(target=connect_in_vain)
    one.start()
    while counter("ActiveOpens") == before:
        time.sleep(0.01)
    # The peer may tell another thread of the connection, which then uses the descriptor.
    assert is_sstp(sock), "connect() has begun elsewhere"
    os.dup2(null, sock.fileno())
    equal(got, [])
    one.join()
    equal(got, [errno.EBADF])
    assert os.path.sameopenfile(sock.fileno(), null), "the file is lost"


# --- alone ------------------------------------------------------------------------

def options():
    tcp, level = socket.IPPROTO_TCP, socket.SOL_SOCKET
    at = listener()
    sock = socket.socket()
    early = [(tcp, socket.TCP_NODELAY, 1), (tcp, socket.TCP_KEEPIDLE, 33),
             (tcp, socket.TCP_USER_TIMEOUT, 5000), (level, socket.SO_KEEPALIVE, 1),
             (tcp, socket.TCP_CORK, 1), (socket.IPPROTO_IP, socket.IP_TOS, 0x20),
             (socket.IPPROTO_IP, socket.IP_TTL, 33), (level, socket.SO_RCVLOWAT, 1)]
    for where, name, value in early:
        sock.setsockopt(where, name, value)
    sock.setsockopt(tcp, socket.TCP_CONGESTION, b"reno")
    sock.setsockopt(level, socket.SO_RCVBUF, 100000)
    size = sock.getsockopt(level, socket.SO_RCVBUF)
    sock.connect(at.getsockname())
    assert is_sstp(sock)
    equal(sock.getsockopt(level, socket.SO_RCVBUF), size)
    for where, name, value in early:
        equal(sock.getsockopt(where, name), value)
    equal(sock.getsockopt(SOL_SSTP, SSTP_NODELAY), 1)
    for name, value in ((socket.TCP_NODELAY, 0), (socket.TCP_KEEPIDLE, 44),
                        (socket.TCP_KEEPINTVL, 7), (socket.TCP_KEEPCNT, 3),
                        (socket.TCP_CORK, 0), (socket.TCP_USER_TIMEOUT, 6000),
                        (socket.TCP_QUICKACK, 0), (socket.TCP_NOTSENT_LOWAT, 4096)):
        sock.setsockopt(tcp, name, value)
        equal(sock.getsockopt(tcp, name), value)
    sock.setsockopt(socket.IPPROTO_IP, 10, 2)           # IP_MTU_DISCOVER
    fails(errno.EINVAL, sock.setsockopt, socket.IPPROTO_IP, 10, 6)
    fails(errno.EINVAL, sock.setsockopt, tcp, socket.TCP_KEEPIDLE, 0)
    fails(errno.EINVAL, sock.setsockopt, tcp, socket.TCP_KEEPCNT, 128)
    fails(errno.ENOPROTOOPT, sock.setsockopt, tcp, 999, 1)
    fails(errno.ENOPROTOOPT, sock.getsockopt, tcp, 999)
    fails(errno.ENOPROTOOPT, sock.setsockopt, tcp, 31, b"tls")  # TCP_ULP
    name = sock.getsockopt(tcp, socket.TCP_CONGESTION, 16).rstrip(b"\0")
    equal(name, b"hybrid")
    assert 500 < sock.getsockopt(tcp, socket.TCP_MAXSEG) < 65536
    info = sock.getsockopt(tcp, socket.TCP_INFO, 104)
    equal((len(info), info[0]), (104, 1))               # TCP_ESTABLISHED
    # A later socket may have the inode of one that is closed, but not its values.
    other = client(at)
    equal(other.getsockopt(tcp, socket.TCP_KEEPIDLE), 7200)


def shared_options():
    tcp = socket.IPPROTO_TCP
    at = listener()
    sock = socket.socket()
    with sock.dup() as copy:
        copy.setsockopt(tcp, socket.TCP_KEEPIDLE, 55)
    sock.connect(at.getsockname())
    assert is_sstp(sock)
    equal(sock.getsockopt(tcp, socket.TCP_KEEPIDLE), 55)
    sock = socket.socket()
    sock.setsockopt(tcp, socket.TCP_KEEPCNT, 4)
    child = os.fork()
    if not child:
        sock.setsockopt(tcp, socket.TCP_KEEPIDLE, 66)
        os._exit(0)
    equal(os.waitpid(child, 0)[1], 0)
    sock.connect(at.getsockname())
    assert is_sstp(sock)
    equal(sock.getsockopt(tcp, socket.TCP_KEEPIDLE), 66)
    equal(sock.getsockopt(tcp, socket.TCP_KEEPCNT), 4)


def names():
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        at = listener(family, address)
        level = socket.SOL_SOCKET
        equal(at.getsockopt(level, socket.SO_ACCEPTCONN), 1)
        equal(at.getsockopt(level, SO_DOMAIN), family)
        equal(at.getsockopt(level, socket.SO_TYPE), socket.SOCK_STREAM)
        port = at.getsockname()[1]
        assert port
        fails(errno.ENOTCONN, at.getpeername)
        at.setblocking(False)
        fails(errno.EAGAIN, at.accept)
        equal(select.select([at], [], [], 0)[0], [])
        for tcp in False, True, False:
            sock = client(at, tcp)
            equal(select.select([at], [], [], 10)[0], [at])
            theirs = at.accept()[0]
            for end in sock, theirs:
                equal(end.getsockopt(level, SO_DOMAIN), family)
                equal(end.getsockopt(level, SO_PROTOCOL), socket.IPPROTO_TCP)
                equal(end.getsockopt(level, socket.SO_ERROR), 0)
            copy = socket.socket(fileno=os.dup(theirs.fileno()))
            equal((copy.family, copy.type), (family, socket.SOCK_STREAM))
            fails(errno.EISCONN, sock.connect, at.getsockname())
            sock.close()
            equal(theirs.recv(1), b"")
            theirs.close()
            copy.close()
        at.settimeout(0.01)
        fails(None, at.accept)                  # socket.timeout has no number
        at.close()
        # Both have gone, and the port with them.
        fails(errno.ECONNREFUSED, socket.create_connection, (address, port))
        at = socket.socket(family)
        at.setsockopt(level, socket.SO_REUSEADDR, 1)
        at.bind((address, port))
        at.listen()
        for tcp in False, True:
            meet(at, tcp)
        at.close()
    both = listener(socket.AF_INET6, "::")
    for address in "127.0.0.1", "::1":
        sock = socket.create_connection((address, both.getsockname()[1]))
        theirs, name = both.accept()
        assert is_sstp(sock) and is_sstp(theirs)
        assert name[0].endswith(address), name
        equal(theirs.getpeername(), name)
    # Two that share a port
    two = [socket.socket(), socket.socket()]
    for at in two:
        at.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        at.bind(("127.0.0.1", two[0].getsockname()[1]))
    for at in two:
        at.listen()
    for tcp in [False, True] * 4:
        sock = client(two[0], tcp)
        equal(is_sstp(select.select(two, [], [], 10)[0][0].accept()[0]), not tcp)
    # Connections of neither protocol wait for those of the other.
    at = listener()
    waiting = [client(at, tcp) for tcp in [False, True] * 20]
    equal({is_sstp(at.accept()[0]) for _ in range(len(waiting) // 2)}, {False, True})
    # An own address and port
    sock = socket.socket()
    sock.bind(("127.0.0.2", 0))
    name = sock.getsockname()
    sock.connect(("127.0.0.1", both.getsockname()[1]))
    assert is_sstp(sock)
    equal(sock.getsockname(), name)


def epoll_case():
    at = socket.socket()
    at.bind(("127.0.0.1", 0))
    at.setblocking(False)
    watch = select.epoll()
    watch.register(at, select.EPOLLIN | select.EPOLLET)
    at.listen()
    shared = select.epoll()
    shared.register(at, select.EPOLLIN | EPOLLEXCLUSIVE)
    shared.modify(at, select.EPOLLIN)
    for tcp in False, True, False, True:
        equal(watch.poll(0), [])
        sock = socket.socket()
        sock.setblocking(False)
        edge = select.epoll()
        edge.register(sock, select.EPOLLIN)
        edge.modify(sock, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
        if tcp:
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
        equal(sock.connect_ex(at.getsockname()), errno.EINPROGRESS)
        while not edge.poll(10)[0][1] & select.EPOLLOUT:
            pass
        equal(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0)
        equal(is_sstp(sock), not tcp)
        equal(watch.poll(10), [(at.fileno(), select.EPOLLIN)])
        equal(shared.poll(10), [(at.fileno(), select.EPOLLIN)])
        theirs = at.accept()[0]
        fails(errno.EAGAIN, at.accept)
        theirs.sendall(b"x")
        while not edge.poll(10)[0][1] & select.EPOLLIN:
            pass
        equal(sock.recv(10), b"x")
    # If both protocols refuse, the socket keeps its first registration.
    sock = socket.socket()
    sock.setblocking(False)
    edge = select.epoll()
    edge.register(sock, select.EPOLLOUT)
    port = at.getsockname()[1]
    at.close()
    equal(sock.connect_ex(("127.0.0.1", port)), errno.EINPROGRESS)
    assert edge.poll(10)[0][1] & select.EPOLLERR
    equal(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), errno.ECONNREFUSED)


def copies():
    at = listener()
    port = at.getsockname()[1]
    before = set(os.listdir("/proc/self/fd"))
    copy = socket.socket(fileno=os.dup(at.fileno()))
    other = socket.socket()
    os.dup2(at.fileno(), other.fileno())
    at.close()
    for sock in copy, other:
        for tcp in False, True:
            equal([e.close() for e in meet(sock, tcp)], [None, None])
    copy.close()
    # A program that closes what it does not know leaves the listener's own alone...
    keep = other.fileno()
    os.closerange(3, keep)
    os.closerange(keep + 1, 65536)
    for fd in range(keep + 1, 2000):
        fails(errno.EBADF, os.close, fd)
    # ... and so does one that takes a number.
    null = os.open("/dev/null", os.O_RDONLY)
    for fd in {int(n) for n in before} - {0, 1, 2, keep, null}:
        os.dup2(null, fd)
    for tcp in False, True:
        meet(other, tcp)
    os.dup2(null, keep)
    fails(errno.ECONNREFUSED, socket.create_connection, ("127.0.0.1", port))


def watched(sock, to, tcp=False):
    """Who watches with epoll sees the connection."""
    sock.setblocking(False)
    watches = [select.epoll() for _ in range(10)]
    for watch in watches:
        watch.register(sock, select.EPOLLOUT | select.EPOLLET)
    equal(sock.connect_ex(to), errno.EINPROGRESS)
    for watch in watches:
        assert watch.poll(10) == [(sock.fileno(), select.EPOLLOUT)], "watches in vain"
    equal(is_sstp(sock), not tcp)


def inherited(fd, port):
    watched(socket.socket(fileno=int(fd)), ("127.0.0.1", int(port)))


def moved():
    """To another number, or into another program, before they connect."""
    import resource
    import subprocess
    at = listener()
    resource.setrlimit(resource.RLIMIT_NOFILE, (70000, 70000))
    for number in 1000, 66000:      # that is more than are followed
        first = socket.socket()
        sock = socket.socket(fileno=os.dup2(first.fileno(), number))
        first.close()
        watched(sock, at.getsockname(), tcp=number > 65535)
    sock = socket.socket()
    subprocess.run(["python3", __file__, "inherited", str(sock.fileno()),
                    str(at.getsockname()[1])], pass_fds=[sock.fileno()], check=True)
    # What keeps a socket with TCP keeps a copy.
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
    copy = socket.socket(fileno=os.dup(sock.fileno()))
    sock.close()
    copy.connect(at.getsockname())
    assert not is_sstp(copy)


def many():
    """What TCP has taken is no longer looked after, however many there are."""
    only, both = listener(tcp=True), listener()
    watch = select.epoll()
    ends = []
    for _ in range(300):
        sock = socket.socket()
        sock.setblocking(False)
        watch.register(sock, select.EPOLLOUT)
        equal(sock.connect_ex(only.getsockname()), errno.EINPROGRESS)
        ends.append(sock)
    assert not any(map(is_sstp, ends))
    watched(socket.socket(), both.getsockname())


def noticed():
    """A program that acts on a connection which epoll reports needs nothing to fall back to."""
    at = listener()
    meet(at)                                    # the service is known now
    sock, watch = socket.socket(), select.epoll()
    sock.setblocking(False)
    watch.register(sock, select.EPOLLOUT)
    equal(sock.connect_ex(at.getsockname()), errno.EINPROGRESS)
    equal(watch.poll(10), [(sock.fileno(), select.EPOLLOUT)])
    before = len(os.listdir("/proc/self/fd"))
    watch.modify(sock, select.EPOLLIN)
    equal(len(os.listdir("/proc/self/fd")), before - 1)
    end = at.accept()[0]
    end.send(b"x")
    equal(watch.poll(10), [(sock.fileno(), select.EPOLLIN)])
    equal(sock.recv(2), b"x")


def unseen():
    """Descriptors that are closed otherwise than by close()."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.fdopen.restype = ctypes.c_void_p
    libc.fclose.argtypes = [ctypes.c_void_p]
    close = 3 if os.uname().machine == "x86_64" else 57
    fresh = []

    def by_stdio(fd):
        equal(libc.fclose(libc.fdopen(fd, b"r")), 0)
        fresh.append(socket.socket())           # it is noticed now
        equal(fresh[-1].fileno(), fd)

    for way in (lambda fd: equal(libc.syscall(close, fd), 0), by_stdio,
                lambda fd: equal(libc.close_range(fd, fd, CLOSE_RANGE_UNSHARE), 0)):
        at = listener()
        for tcp in False, True:
            meet(at, tcp)
        port = at.getsockname()[1]
        way(at.detach())
        fails(errno.ECONNREFUSED, socket.create_connection, ("127.0.0.1", port))
    equal(libc.close_range(5, 3, 0), -1)
    equal(ctypes.get_errno(), errno.EINVAL)
    equal(libc.syscall(close, -1), -1)
    equal(ctypes.get_errno(), errno.EBADF)


def fastopen():
    at, only = listener(), listener(tcp=True)
    sock = socket.socket()
    equal(sock.sendto(b"hello", MSG_FASTOPEN, at.getsockname()), 5)
    assert not is_sstp(sock)
    equal(at.accept()[0].recv(5), b"hello")
    for to in at, only:
        sock = socket.socket()
        sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
        sock.connect(to.getsockname())
        equal(is_sstp(sock), to is at)
        sock.sendall(b"hello")
        equal(to.accept()[0].recv(5), b"hello")


def children():
    import subprocess
    at = listener()
    for _ in range(2):      # vfork(), and descriptors closed in the child
        subprocess.run(["true"], check=True, close_fds=True)
        subprocess.run(["sh", "-c", "exit 0"], check=True, preexec_fn=os.getpid)
    for tcp in False, True:
        meet(at, tcp)
    pids = []
    for _ in range(2):
        pid = os.fork()
        if not pid:
            conn = at.accept()[0]
            conn.sendall(b"%d" % os.getpid())
            conn.close()
            at.close()
            os._exit(0)
        pids.append(pid)
    port = at.getsockname()[1]
    ends = [client(at, tcp) for tcp in (False, True)]
    at.close()              # the children still have it
    equal(sorted(int(end.recv(20)) for end in ends), sorted(pids))
    for pid in pids:
        equal(os.waitpid(pid, 0)[1], 0)
    fails(errno.ECONNREFUSED, socket.create_connection, ("127.0.0.1", port))
    if not os.fork():       # what is connected passes exec()
        at = listener()
        ours, theirs = meet(at)
        theirs.set_inheritable(True)
        pid = os.fork()
        if not pid:
            os.execlp("sh", "sh", "-c", f"read line <&{theirs.fileno()}; "
                      f"echo got $line >&{theirs.fileno()}")
        theirs.close()
        ours.sendall(b"this\n")
        equal(ours.makefile().read(), "got this\n")
        os._exit(0)
    equal(os.wait()[1], 0)


def threads():
    at = listener()
    got = []

    def serve_two():
        for _ in range(2):
            conn = at.accept()[0]
            got.append(is_sstp(conn))
            conn.sendall(b"x")
            conn.close()

    crew = [threading.Thread(target=serve_two) for _ in range(4)]
    for one in crew:
        one.start()
    for i in range(8):
        equal(client(at, i % 2 == 1).recv(1), b"x")
    for one in crew:
        one.join()
    equal(sorted(got), [False] * 4 + [True] * 4)
    # Who is accepted is connected, also to a thread that did not call connect().
    for _ in range(50):
        sock = socket.socket()
        one = threading.Thread(target=sock.connect, args=(at.getsockname(),))
        one.start()
        at.accept()[0].close()
        equal(select.select([sock], [], [], 10)[0], [sock])
        equal(sock.recv(1), b"")
        one.join()
        sock.close()
    # shutdown() ends accept().
    one = threading.Thread(target=fails, args=(errno.EINVAL, at.accept))
    one.start()
    at.shutdown(socket.SHUT_RDWR)
    one.join(10)
    assert not one.is_alive()


def signals():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    at = listener()
    late = []

    def ring(*_):
        late.append(1)

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, ring)
    signal.siginterrupt(signal.SIGALRM, True)
    # The first signal may come before accept().
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
    equal(libc.accept(at.fileno(), None, None), -1)
    equal(ctypes.get_errno(), errno.EINTR)
    # With SA_RESTART it goes on, until somebody comes.
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    end = []
    timer = threading.Timer(0.6, lambda: end.append(client(at)))
    timer.start()
    assert libc.accept(at.fileno(), None, None) >= 0
    timer.join()


def sendfile():
    import tempfile
    data = os.urandom(300000)
    ours, theirs = meet(listener())
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(data)
        source.flush()

        def send():
            source.seek(0)
            equal(ours.sendfile(source), len(data))
            ours.shutdown(socket.SHUT_WR)

        one = threading.Thread(target=send)
        one.start()
        out, into = os.pipe()
        while n := os.splice(theirs.fileno(), into, 65536):
            while n:
                n -= os.splice(out, sink.fileno(), n)
        one.join()
        sink.seek(0)
        assert sink.read() == data, "other content"
    # From a pipe into a socket
    os.write(into, data[:4096])
    equal(os.splice(out, theirs.fileno(), 4096), 4096)
    equal(ours.recv(4096, socket.MSG_WAITALL), data[:4096])


def remembered():
    """A process that knows that a service answers leaves the file alone for a while."""
    path = os.environ["XDG_RUNTIME_DIR"] + "/sstp-run-hosts"
    at = listener()
    for _ in range(20):
        client(at)
        os.unlink(path)
        client(at)
        if not os.path.exists(path):
            return
    raise AssertionError("the file is opened for each connection")


def listen_sstp(fd=None):
    if fd:
        at = socket.socket(fileno=int(fd))
        equal(at.family, socket.AF_INET)
    else:
        at = listener()
        at.set_inheritable(True)
        assert is_sstp(at)
        fails(errno.ECONNREFUSED, client, at, True)
        os.execlp("python3", "python3", __file__, "listen-sstp", str(at.fileno()))
    meet(at)


def listen_tcp():
    at = listener()
    assert not is_sstp(at)
    sock = socket.create_connection(at.getsockname())
    assert not is_sstp(sock) and not is_sstp(at.accept()[0])


def wanted():
    """With a rate, a controller and a policy: both ends have them."""
    for sock in meet(listener()):
        equal([sock.getsockopt(SOL_SSTP, name, 16).rstrip(b"\0")
               for name in (SSTP_CONTROLLER, SSTP_BUFFER_POLICY)], [b"newreno", b"static"])
        equal(int.from_bytes(sock.getsockopt(SOL_SSTP, SSTP_RATE, 24)[:8], sys.byteorder),
              20000000)


def absent():
    fails(errno.EAFNOSUPPORT, socket.socket, 25, socket.SOCK_STREAM)
    at = listener()
    meet(at, tcp=True)
    sock = socket.create_connection(at.getsockname())
    assert not is_sstp(sock)


ALONE = {"options": options, "options set by others": shared_options,
         "names and states": names,
         "epoll before connect() and listen()": epoll_case,
         "copies of descriptors": copies, "moved before connect()": moved,
         "many watched": many, "connected unasked": noticed, "closed unseen": unseen,
         "TCP Fast Open": fastopen, "children": children, "threads in accept()": threads,
         "signals": signals,
         "sendfile() and splice()": sendfile, "services remembered": remembered}


def alone():
    """In a process each."""
    for name, case in ALONE.items():
        pid = os.fork()
        if not pid:
            try:
                case()
            except BaseException:       # pylint: disable=broad-exception-caught
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        print("not ok" if status else "ok", name, flush=True)


CASES = {"http": http, "serve": serve, "asyncio": asyncio_client, "silent": silent,
         "late": late, "daemon": daemon, "inherited": inherited, "wanted": wanted,
         "alone": alone, "listen-sstp": listen_sstp, "listen-tcp": listen_tcp,
         "absent": absent}

if __name__ == "__main__":
    CASES[sys.argv[1]](*sys.argv[2:])
