// SPDX-License-Identifier: GPL-2.0

// Package conn has the test that the example's streams are what a net.Conn has to be.
package conn

import (
	"net"
	"testing"

	"example.org/sstp"
	"golang.org/x/net/nettest"
)

func listen(ip net.IP) (net.Listener, error) {
	socket, err := sstp.NewStream()
	if err != nil {
		return nil, err
	}
	if err := socket.Listen(ip, 0, 16); err != nil {
		return nil, err
	}
	return socket.Streams()
}

func connect(to net.Addr) (net.Conn, error) {
	socket, err := sstp.NewStream()
	if err != nil {
		return nil, err
	}
	at := to.(*net.TCPAddr)
	if err := socket.Connect(at.IP, at.Port); err != nil {
		return nil, err
	}
	return socket.Stream()
}

// pipe makes both ends of a connection.
func pipe(ip net.IP) (c1, c2 net.Conn, stop func(), err error) {
	listener, err := listen(ip)
	if err != nil {
		return nil, nil, nil, err
	}
	defer listener.Close()
	if c1, err = connect(listener.Addr()); err != nil {
		return nil, nil, nil, err
	}
	if c2, err = listener.Accept(); err != nil {
		c1.Close()
		return nil, nil, nil, err
	}
	return c1, c2, func() { c1.Close(); c2.Close() }, nil
}

func TestConn(t *testing.T) {
	for name, ip := range map[string]net.IP{
		"IPv4": net.IPv4(127, 0, 0, 1), "IPv6": net.IPv6loopback,
	} {
		t.Run(name, func(t *testing.T) {
			nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
				return pipe(ip)
			})
		})
	}
}

// What TCP's can be told, and says of itself
func TestTCPConn(t *testing.T) {
	c1, c2, stop, err := pipe(net.IPv4(127, 0, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if c1.LocalAddr().String() != c2.RemoteAddr().String() {
		t.Errorf("from %v, seen as %v", c1.LocalAddr(), c2.RemoteAddr())
	}
	for _, c := range []net.Conn{c1, c2} {
		stream, ok := c.(*net.TCPConn)
		if !ok {
			t.Fatalf("it is a %T", c)
		}
		for name, err := range map[string]error{
			"SetNoDelay":     stream.SetNoDelay(true),
			"SetKeepAlive":   stream.SetKeepAlive(true),
			"SetLinger":      stream.SetLinger(-1),
			"SetReadBuffer":  stream.SetReadBuffer(1 << 20),
			"SetWriteBuffer": stream.SetWriteBuffer(1 << 20),
			"CloseWrite":     stream.CloseWrite(),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
