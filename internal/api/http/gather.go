package http

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
)

// line is a line of a stream that is not blank.
type line struct {
	number  int // from 1, blank ones counted
	text    []byte
	arrived time.Time
}

// Bounds of what gathers while a group is being put: one line more than fits is never read.
const (
	gatherLines = 1000
	gatherBytes = 1 << 20
)

// gatherer reads lines ahead of whoever takes them. Their bytes are taken off the server's room until they are settled.
type gatherer struct {
	body   io.ReadCloser
	most   int // bytes of one line
	room   *door.Busy
	full   func() *Problem // when there is no room
	done   chan struct{}
	mu     sync.Mutex
	change *sync.Cond // of anything below
	lines  []line
	bytes  int
	held   int64 // of the room
	err    error // why no more lines come: io.EOF, or what went wrong
	over   bool  // nobody takes any more
}

func gather(body io.ReadCloser, most int, room *door.Busy, full func() *Problem) *gatherer {
	g := &gatherer{body: body, most: most, room: room, full: full, done: make(chan struct{})}
	g.change = sync.NewCond(&g.mu)
	go g.read()
	return g
}

// take waits for at least one line and returns all that have gathered; none and nil at the end of the stream.
func (g *gatherer) take() ([]line, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.lines) == 0 && g.err == nil && !g.over {
		g.change.Wait()
	}
	if len(g.lines) == 0 || g.over {
		if g.err == nil || errors.Is(g.err, io.EOF) {
			return nil, nil
		}
		return nil, g.err
	}
	lines := g.lines
	g.lines, g.bytes = nil, 0
	g.change.Broadcast()
	return lines, nil
}

// abandon makes take return without lines, now and ever after.
func (g *gatherer) abandon() {
	g.mu.Lock()
	g.over = true
	g.change.Broadcast()
	g.mu.Unlock()
}

// stop waits for the end of the body, which the caller has to bring about (a deadline), and gives back the room.
func (g *gatherer) stop() {
	g.abandon()
	<-g.done
	g.room.Give(g.held)
	g.held = 0
}

// settled gives back the room of lines that were taken.
func (g *gatherer) settled(lines []line) {
	n := int64(0)
	for _, l := range lines {
		n += jsonGrowing * int64(len(l.text))
	}
	g.mu.Lock()
	g.held -= n
	g.mu.Unlock()
	g.room.Give(n)
}

// grow takes room for bytes that are being read, and gives it back for those that are no part of a line.
func (g *gatherer) grow(n int) error {
	if !g.room.Try(jsonGrowing * int64(n)) {
		return g.full()
	}
	g.mu.Lock()
	g.held += jsonGrowing * int64(n)
	g.mu.Unlock()
	return nil
}

// read ends when the body does: what comes after the last line that somebody takes is thrown away.
func (g *gatherer) read() {
	defer close(g.done)
	defer func() { _, _ = io.Copy(io.Discard, g.body) }()
	r := bufio.NewReaderSize(g.body, 64<<10)
	for number := 1; ; number++ {
		text, err := readLine(r, g.most, g.grow)
		if blank := len(bytes.TrimSpace(text)) == 0; !blank && (err == nil || errors.Is(err, io.EOF)) {
			if !g.add(line{number, text, time.Now()}) {
				return
			}
		} else {
			g.settled([]line{{text: text}})
		}
		if err != nil {
			g.end(number, err)
			return
		}
	}
}

func (g *gatherer) add(l line) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.over && len(g.lines) > 0 && (len(g.lines) >= gatherLines || g.bytes+len(l.text) > gatherBytes) {
		g.change.Wait()
	}
	g.lines = append(g.lines, l)
	g.bytes += len(l.text)
	g.change.Broadcast()
	return !g.over
}

func (g *gatherer) end(number int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var p *Problem
	switch {
	case errors.As(err, &p):
		g.err = p
	case errors.Is(err, io.EOF):
		g.err = io.EOF
	case errors.Is(err, errLongLine):
		g.err = bodyTooLarge.problemf("line %d is longer than %d bytes", number,
			g.most).withHint("send large bodies as they are, one a request")
	default:
		g.err = badRequest.problemf("the stream broke off in line %d: %v", number, err)
	}
	g.change.Broadcast()
}

var errLongLine = errors.New("line is too long")

// readLine reads up to and without a line end. The last line may lack one: it comes with io.EOF. grow is asked before
// bytes are kept; what was read of a line is returned beside every error.
func readLine(r *bufio.Reader, most int, grow func(n int) error) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if len(text)+len(part) > most {
			return text, errLongLine
		}
		if full := grow(len(part)); full != nil {
			return text, full
		}
		text = append(text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}
