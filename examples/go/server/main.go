// SPDX-License-Identifier: GPL-2.0

// Stores the segments of each client in a file of its own.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"example.org/sstp"
)

const segmentMax = 1 << 20 // largest that a client may send

// keep writes all segments of a client to file, and then answers the client.
func keep(client *sstp.Conn, number int, file *os.File) error {
	segment := make([]byte, segmentMax)
	bytes, missing := 0, 0
	for {
		n, gaps, complete, err := client.Receive(segment)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		for _, gap := range gaps {
			fmt.Printf("%d: %d bytes are missing at %d\n", number, gap.Len,
				bytes+int(gap.Offset))
			missing += int(gap.Len)
		}
		if !complete {
			fmt.Printf("%d: more is missing\n", number)
		}
		if _, err := file.Write(segment[:n]); err != nil {
			return err
		}
		bytes += n
	}
	answer := fmt.Sprintf("%d bytes, %d missing\n", bytes, missing)
	fmt.Printf("%d: %s", number, answer)
	_, err := client.Write([]byte(answer))
	return err
}

func serve(client *sstp.Conn, number int, directory string) {
	defer client.Close()
	file, err := os.Create(filepath.Join(directory, strconv.Itoa(number)))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	fmt.Printf("%d: begins\n", number)
	if err := keep(client, number, file); err != nil {
		log.Printf("%d: %v", number, err)
	}
}

func listen(port, tolerance int) (*sstp.Conn, error) {
	listener, err := sstp.New()
	if err != nil {
		return nil, err
	}
	// Accepted connections inherit these options from the listener.
	if err := listener.SetSegmentLimit(segmentMax); err != nil {
		return nil, err
	}
	if err := listener.SetTolerance(tolerance); err != nil {
		return nil, err
	}
	return listener, listener.Listen(net.IPv6unspecified, port, 64)
}

func main() {
	port := flag.Int("p", 7000, "port")
	tolerance := flag.Int("t", 0, "tolerance, packets per million")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: server [-p PORT] [-t TOLERANCE] DIRECTORY")
	}
	listener, err := listen(*port, *tolerance)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on port %d\n", *port)
	for number := 1; ; number++ {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(client, number, flag.Arg(0))
	}
}
