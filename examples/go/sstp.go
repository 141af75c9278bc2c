// SPDX-License-Identifier: GPL-2.0

// Package sstp has sockets of AF_SSTP: see sstp(7) and <linux/sstp.h>.
//
// They are made by system calls, since the package net does not know the family.
//
// A stream (NewStream) is handed to the package net as soon as it is connected or
// listens, and is a net.Conn or net.Listener like those of TCP.
//
// What net has nothing for are segments (New). The descriptors do not block; who has to
// wait does so in the runtime's poller. A deadline (SetDeadline of os.File) and Close
// end all waiting, with the errors of os.File, not with those of net.
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
	gapsRoom = 4096 // more are never listed
)

// Rate is a contract (struct sstp_rate_spec). What is 0 is derived.
type Rate struct {
	Peak, Average       uint64 // bit/s
	BurstRate, BurstLen uint32 // bursts in 1000 s, packets
}

// Gap says which bytes of a segment are missing (struct sstp_gap).
type Gap struct {
	Offset, Len uint32
}

// Info is the state of a connection (struct sstp_info, as far as it goes here).
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

// Conn is a socket, connected or listening. Of the type SOCK_SEQPACKET, Write sends a
// segment, all or nothing, and Read returns one, or io.EOF.
type Conn struct {
	*os.File
	raw syscall.RawConn
	oob []byte
}

func newConn(fd int) (*Conn, error) {
	// A descriptor that does not block goes to the poller.
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

// New makes a socket, for which options are set before Connect or Listen.
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

// once makes a call that does not wait.
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

// read and write make a call again and again, until it need not wait.
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

// Listen binds to a port, of IPv6 and IPv4 if ip is net.IPv6unspecified. As with TCP,
// connections of a server before may still be about to end there.
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

// Receive reads a segment, and says where it has gaps and whether these are all.
// n is 0 at the end of what the peer sends.
func (c *Conn) Receive(segment []byte) (n int, gaps []Gap, complete bool, err error) {
	var room, flags int
	if c.oob == nil {
		c.oob = make([]byte, syscall.CmsgSpace(gapsRoom*8))
	}
	err = c.read("recvmsg", func(fd int) (err error) {
		n, room, flags, _, err = syscall.Recvmsg(fd, segment, c.oob, 0)
		return err
	})
	if err != nil {
		return 0, nil, false, err
	}
	messages, err := syscall.ParseSocketControlMessage(c.oob[:room])
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

// CloseWrite ends this direction; what the peer sends can still be read.
func (c *Conn) CloseWrite() error {
	return c.once("shutdown", func(fd int) error {
		return syscall.Shutdown(fd, syscall.SHUT_WR)
	})
}

// SetRate sets the contract. Before Connect it also decides alone how fast to send.
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

// SetTolerance is in packets of a million; the lower value of both ends counts.
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

// Info looks at the connection.
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
