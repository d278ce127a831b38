package function

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// firstQuestion is how a runtime asks for its first event.
const firstQuestion = "GET /2018-06-01/runtime/invocation/next"

// runtimeStub is an endpoint of the Runtime API that knows no more than when it is asked for an event first. It shares
// nothing with the one that instances have.
type runtimeStub struct {
	listener net.Listener
	asked    chan time.Time // gets the time once
	once     sync.Once
	end      sync.Once
	wait     sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	over  bool
}

func openRuntimeStub() (*runtimeStub, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open an endpoint for a runtime: %w", err)
	}
	s := &runtimeStub{listener: l, asked: make(chan time.Time, 1)}
	s.wait.Go(s.accept)
	return s, nil
}

func (s *runtimeStub) addr() string { return s.listener.Addr().String() }

func (s *runtimeStub) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return // it was closed
		}
		s.mu.Lock()
		s.conns = append(s.conns, c)
		over := s.over
		s.mu.Unlock()
		if over {
			_ = c.Close() // nothing was said
			return
		}
		s.wait.Go(func() { s.hear(c) })
	}
}

// hear reads until the question is there, and never answers it.
func (s *runtimeStub) hear(c net.Conn) {
	var said []byte
	buf := make([]byte, 4<<10)
	for len(said) < 1<<20 {
		n, err := c.Read(buf)
		now := time.Now()
		if said = append(said, buf[:n]...); bytes.Contains(said, []byte(firstQuestion)) {
			s.once.Do(func() { s.asked <- now })
			return
		}
		if err != nil {
			return // it was closed, or the program has ended
		}
	}
}

// Close may be called more than once.
func (s *runtimeStub) Close() { s.end.Do(s.shut) }

func (s *runtimeStub) shut() {
	_ = s.listener.Close() // it has no more to tell
	s.mu.Lock()
	s.over = true
	for _, c := range s.conns {
		_ = c.Close() // nor have they
	}
	s.mu.Unlock()
	s.wait.Wait()
}

// straceArgs has strace write to a file when programs are begun and what is sent. It stops a program at these calls
// alone.
func straceArgs(strace, file string) []string {
	return []string{strace, "-f", "--seccomp-bpf", "-qq", "-ttt", "-s", "64", "-e",
		"trace=execve,write,writev,sendto,sendmsg", "-e", "signal=none", "-o", file, "--"}
}

// traced reads how long it took from the first program's beginning to the question.
func traced(text []byte) (time.Duration, error) {
	began := -1.0
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line) // number of the process, time, call
		if len(fields) < 3 {
			continue
		}
		at, err := strconv.ParseFloat(string(fields[1]), 64)
		if err != nil {
			continue
		}
		if began < 0 && bytes.HasPrefix(fields[2], []byte("execve(")) {
			began = at
		}
		if began >= 0 && bytes.Contains(line, []byte(firstQuestion)) {
			return time.Duration((at - began) * float64(time.Second)), nil
		}
	}
	return 0, errors.New("strace has not seen the program's beginning and its question")
}
