// SPDX-License-Identifier: GPL-2.0

// Package sstp provides sockets of AF_SSTP: see sstp(7) and <linux/sstp.h>.
//
// It makes system calls itself, since the package net does not know the family.
//
// A stream (NewStream) is handed to the package net once it is connected or listens, and
// becomes a net.Conn or net.Listener like those of TCP.
//
// The package net has no type for sockets that send segments (New). Their descriptors are
// non-blocking: a goroutine that has to wait does so in the runtime's poller. A deadline
// (SetDeadline of os.File) and Close end all waiting calls, with errors of os.File.
package sstp

import (
	"net"
	"os"
	"syscall"
	"unsafe"
)

const (
	family = 25  // AF_SSTP
	level  = 345 // SOL_SSTP

	optRate         = 1
	optSegmentLimit = 4
	optTolerance    = 5
	optInfo         = 12

	cmsgGaps = 1
	gapsMax  = 4096 // the kernel lists no more
)

// Rate is a contract (struct sstp_rate_spec). The kernel derives fields that are 0.
type Rate struct {
	Peak, Average       uint64 // bit/s
	BurstRate, BurstLen uint32 // bursts per 1000 s, packets
}

// Gap says which bytes of a segment are missing (struct sstp_gap).
type Gap struct {
	Offset, Len uint32
}

// Info is the state of a connection (the first fields of struct sstp_info).
type Info struct {
	State, Type, AckStrategy, Backoff           uint8
	MTU, PacketSize, SegmentLimit, Tolerance    uint32
	RTT, RTTVar, RTTMin, Cwnd, InFlight         uint32 // us; packets
	Rate                                        Rate   // in force
	Period                                      uint64 // ns
	SndSegment, SndUna, SndWindow, SndQueued    uint32
	RcvSegment, RcvWindow, RcvBuffer, RcvQueued uint32
	RcvPeak, Reordering                         uint32
	BytesSent, BytesRetrans                     uint64
	BytesAcked, BytesReceived                   uint64
	PacketsSent, PacketsRetrans                 uint64
}

// Conn is a socket, connected or listening. With the type SOCK_SEQPACKET, Write sends a
// whole segment or fails, and Read returns a segment or io.EOF.
type Conn struct {
	*os.File
	raw syscall.RawConn
	oob []byte
}

func newConn(fd int) (*Conn, error) {
	// os.NewFile adds a non-blocking descriptor to the runtime's poller.
	c := &Conn{File: os.NewFile(uintptr(fd), "sstp")}
	raw, err := c.SyscallConn()
	if err != nil {
		c.Close()
		return nil, err
	}
	c.raw = raw
	return c, nil
}

func newSocket(kind int) (*Conn, error) {
	fd, err := syscall.Socket(family, kind|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	return newConn(fd)
}

// New makes a socket that sends segments. Set its options before Connect or Listen.
func New() (*Conn, error) {
	return newSocket(syscall.SOCK_SEQPACKET)
}

// NewStream makes a socket of the type SOCK_STREAM. After Connect it becomes a net.Conn
// by Stream, after Listen a net.Listener by Streams.
func NewStream() (*Conn, error) {
	return newSocket(syscall.SOCK_STREAM)
}

// Stream gives the connection to the package net; c is closed.
func (c *Conn) Stream() (net.Conn, error) {
	defer c.Close()
	return net.FileConn(c.File)
}

// Streams gives the listener to the package net; c is closed.
func (c *Conn) Streams() (net.Listener, error) {
	defer c.Close()
	return net.FileListener(c.File)
}

// once makes a call that never has to wait.
func (c *Conn) once(name string, call func(fd int) error) error {
	var result error
	err := c.raw.Control(func(fd uintptr) { result = call(int(fd)) })
	if err == nil {
		err = os.NewSyscallError(name, result)
	}
	return err
}

func waits(err error) bool {
	return err == syscall.EAGAIN || err == syscall.EINPROGRESS ||
		err == syscall.EALREADY
}

// read and write repeat a call whenever the socket is ready, until it need not wait.
func (c *Conn) read(name string, call func(fd int) error) error {
	return wait(c.raw.Read, name, call)
}

func (c *Conn) write(name string, call func(fd int) error) error {
	return wait(c.raw.Write, name, call)
}

func wait(poll func(func(fd uintptr) bool) error, name string,
	call func(fd int) error) error {
	var result error
	err := poll(func(fd uintptr) bool {
		result = call(int(fd))
		return !waits(result)
	})
	if err == nil {
		err = os.NewSyscallError(name, result)
	}
	return err
}

func sockaddr(ip net.IP, port int) syscall.Sockaddr {
	if v4 := ip.To4(); v4 != nil {
		at := &syscall.SockaddrInet4{Port: port}
		copy(at.Addr[:], v4)
		return at
	}
	at := &syscall.SockaddrInet6{Port: port}
	copy(at.Addr[:], ip.To16())
	return at
}

// Connect waits for the connection, or for the deadline.
func (c *Conn) Connect(ip net.IP, port int) error {
	at := sockaddr(ip, port)
	return c.write("connect", func(fd int) error { return syscall.Connect(fd, at) })
}

// Listen binds to a port, of IPv6 and IPv4 if ip is net.IPv6unspecified. It sets
// SO_REUSEADDR, as with TCP: connections of an earlier server may still be closing.
func (c *Conn) Listen(ip net.IP, port, backlog int) error {
	at := sockaddr(ip, port)
	err := c.once("setsockopt", func(fd int) error {
		return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	})
	if err != nil {
		return err
	}
	err = c.once("bind", func(fd int) error { return syscall.Bind(fd, at) })
	if err != nil {
		return err
	}
	return c.once("listen", func(fd int) error { return syscall.Listen(fd, backlog) })
}

// Accept waits for the next connection.
func (c *Conn) Accept() (*Conn, error) {
	var peer int
	err := c.read("accept", func(fd int) (err error) {
		peer, _, err = syscall.Accept4(fd, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newConn(peer)
}

// Receive reads a segment. It returns the gaps of the segment, and whether the list of
// gaps is complete. n is 0 at the end of the peer's stream.
func (c *Conn) Receive(segment []byte) (n int, gaps []Gap, complete bool, err error) {
	var oobn, flags int
	if c.oob == nil {
		c.oob = make([]byte, syscall.CmsgSpace(gapsMax*8))
	}
	err = c.read("recvmsg", func(fd int) (err error) {
		n, oobn, flags, _, err = syscall.Recvmsg(fd, segment, c.oob, 0)
		return err
	})
	if err != nil {
		return 0, nil, false, err
	}
	messages, err := syscall.ParseSocketControlMessage(c.oob[:oobn])
	if err != nil {
		return 0, nil, false, err
	}
	for _, m := range messages {
		if m.Header.Level == level && m.Header.Type == cmsgGaps {
			list := (*Gap)(unsafe.Pointer(&m.Data[0]))
			gaps = append(gaps, unsafe.Slice(list, len(m.Data)/8)...)
		}
	}
	return n, gaps, flags&syscall.MSG_CTRUNC == 0, nil
}

// CloseWrite ends the stream to the peer; the peer's stream can still be read.
func (c *Conn) CloseWrite() error {
	return c.once("shutdown", func(fd int) error {
		return syscall.Shutdown(fd, syscall.SHUT_WR)
	})
}

// SetRate sets the contract. One set before Connect replaces congestion control.
func (c *Conn) SetRate(rate Rate) error {
	return c.once("setsockopt", func(fd int) error {
		_, _, e := syscall.Syscall6(syscall.SYS_SETSOCKOPT, uintptr(fd), level, optRate,
			uintptr(unsafe.Pointer(&rate)), unsafe.Sizeof(rate), 0)
		if e != 0 {
			return e
		}
		return nil
	})
}

// SetTolerance sets the packets per million that a segment may lack; the lower value of
// both ends applies.
func (c *Conn) SetTolerance(tolerance int) error {
	return c.setInt(optTolerance, tolerance)
}

// SetSegmentLimit sets the largest segment that the peer may send.
func (c *Conn) SetSegmentLimit(limit int) error {
	return c.setInt(optSegmentLimit, limit)
}

func (c *Conn) setInt(opt, value int) error {
	return c.once("setsockopt", func(fd int) error {
		return syscall.SetsockoptInt(fd, level, opt, value)
	})
}

// Info returns the state of the connection.
func (c *Conn) Info() (info Info, err error) {
	size := uint32(unsafe.Sizeof(info))
	err = c.once("getsockopt", func(fd int) error {
		_, _, e := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), level, optInfo,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
		if e != 0 {
			return e
		}
		return nil
	})
	return info, err
}
