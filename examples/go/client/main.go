// SPDX-License-Identifier: GPL-2.0

// Sends standard input under a rate contract, and prints statistics of the connection.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"example.org/sstp"
)

const (
	segmentSize = 100000
	patience    = 10 * time.Second // for Connect, less than the kernel's timeout
)

func connect(host string, port, tolerance int, rate uint64) (*sstp.Conn, error) {
	to, err := net.ResolveIPAddr("ip", host)
	if err != nil {
		return nil, err
	}
	c, err := sstp.New()
	if err != nil {
		return nil, err
	}
	if err := c.SetRate(sstp.Rate{Peak: rate}); err != nil {
		return nil, err
	}
	if err := c.SetTolerance(tolerance); err != nil {
		return nil, err
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if err := c.Connect(to.IP, port); err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Time{})
}

// send sends all input in segments, and returns the server's answer.
func send(c *sstp.Conn, input io.Reader) (string, error) {
	segment := make([]byte, segmentSize)
	for {
		n, err := io.ReadFull(input, segment)
		if n > 0 {
			if _, err := c.Write(segment[:n]); err != nil {
				return "", err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if err := c.CloseWrite(); err != nil {
		return "", err
	}
	n, err := c.Read(segment)
	return string(segment[:n]), err
}

func main() {
	port := flag.Int("p", 7000, "port")
	tolerance := flag.Int("t", 0, "tolerance, packets per million")
	rate := flag.Uint64("r", 0, "contract, bit/s")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: client [-p PORT] [-t TOLERANCE] [-r RATE] HOST < FILE")
	}
	c, err := connect(flag.Arg(0), *port, *tolerance, *rate)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	answer, err := send(c, os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	info, err := c.Info()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(answer)
	fmt.Printf("contract %d bit/s, round trip %d us, %d of %d packets sent again\n",
		info.Rate.Peak, info.RTT, info.PacketsRetrans, info.PacketsSent)
}
