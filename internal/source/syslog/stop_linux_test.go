package syslog

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestSendersThatConnectDuringAStopLoseNothing: each line has a connection of its own, until they are refused.
func TestSendersThatConnectDuringAStopLoseNothing(t *testing.T) {
	for range 4 {
		out := &collector{}
		s, stop := run(t, Config{}, out)
		const senders = 8
		written := make([][]string, senders)
		var sending sync.WaitGroup
		for i := range senders {
			sending.Go(func() { written[i] = writeUntilRefused(t, s.Address().String(), fmt.Sprintf("%d.", i)) })
		}
		out.await(t, 100)
		began := time.Now()
		stop()
		if took := time.Since(began); took > partTime/2 {
			t.Errorf("the stop took %v, though each sender had closed its connections", took)
		}
		sending.Wait()
		want, got := slices.Concat(written...), out.bodies()
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d lines were written, %d came", len(want), len(got))
		}
	}
}

// writeUntilRefused writes a line on each of many connections, after a look whether it has ended, as rsyslogd does.
func writeUntilRefused(t *testing.T, address, name string) (written []string) {
	for {
		c, err := net.Dial("tcp", address)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return written
		}
		if err != nil {
			t.Error(err)
			return written
		}
		if ended(t, c.(*net.TCPConn)) {
			c.Close()
			continue
		}
		body := fmt.Sprint(name, len(written))
		if _, err := io.WriteString(c, "<13>1 - - - - - - "+body+"\n"); err == nil {
			written = append(written, body)
		}
		c.Close()
	}
}

// ended looks whether the other side has closed a connection, without a wait.
func ended(t *testing.T, c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		t.Error(err)
		return true
	}
	n, rerr := 0, error(nil)
	if err := raw.Read(func(fd uintptr) bool {
		n, _, rerr = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	}); err != nil {
		t.Error(err)
	}
	return n == 0 && rerr == nil || errors.Is(rerr, syscall.ECONNRESET)
}

func TestWhatAStopLeavesIsTold(t *testing.T) {
	out := &collector{full: make(chan struct{})}
	s, stop := run(t, Config{}, out)
	c := dial(t, s)
	write(t, c, strings.Repeat("<13>1 - - - - - - x\n", 5000))
	stop()
	if n := s.Counts()[left]; n != 1 {
		t.Errorf("%d connections were left", n)
	}
	if ns := s.Notices(); len(ns) != 1 || !strings.HasPrefix(ns[0], "99999 bytes of a connection were taken") {
		t.Errorf("notices %q", ns)
	}
}
