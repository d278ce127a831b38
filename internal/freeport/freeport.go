// Package freeport finds addresses of loopback for servers that are configured before they listen: nodes of a cluster
// name each other's ports. Whoever can listen on port 0 and ask for its address does that instead.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports are found below those that systems give to connections and to port 0: Linux from 32768, others from 49152.
const (
	first = 15000
	count = 17000
)

// held are the UDP ports of the same numbers. While they are open no other process finds them here: a TCP port that
// nobody listens on yet looks free to all.
var (
	mu   sync.Mutex
	held []net.PacketConn
)

// Find returns the addresses of n ports that nobody listens on, such as "127.0.0.1:20000". They differ, also from those
// of earlier calls, and of other processes that run and found theirs here.
func Find(n int) (addresses []string, err error) {
	mu.Lock()
	defer mu.Unlock()
	for range 100 * (n + 1) { // systems differ in how they say that a port is in use, or kept for others
		if len(addresses) == n {
			return addresses, nil
		}
		address, failed := try(fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(count)))
		if failed != nil {
			err = failed
			continue
		}
		addresses = append(addresses, address)
	}
	return nil, fmt.Errorf("find %d free ports from %d to %d: %w", n, first, first+count-1, err)
}

// try takes an address if it is free.
func try(address string) (string, error) {
	mark, err := net.ListenPacket("udp", address)
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", errors.Join(err, mark.Close())
	}
	held = append(held, mark)
	return address, l.Close()
}
