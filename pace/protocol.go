package pace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The asking process sends a head, the setup, and then one byte a command; its end of the pipe closing is a stop. The
// pacing process answers with a readiness or a failure, progress, and an end. Each message is a kind, a length of four
// bytes and JSON (of a setup: the setup).
const (
	kindHead     = 'h'
	kindSetup    = 's'
	kindReady    = 'r'
	kindFailed   = 'x'
	kindProgress = 'p'
	kindEnd      = 'e'
)

// The commands.
const (
	commandStop   = 'S'
	commandPause  = 'P'
	commandResume = 'R'
)

// maxMessage holds the report of MaxKeep records, and a result.
const maxMessage = 512 << 20

// head is a Job on the wire.
type head struct {
	Player       string
	Frames, Span uint64 // the rate
	Count        int64  // of frames
	Policy       Policy
	Start        int64 // nanoseconds since 1970; 0: none
	Keep         int
}

func headOf(j *Job) head {
	h := head{Player: j.Player, Frames: j.Rate.frames, Span: j.Rate.span, Count: j.Frames, Policy: j.Policy,
		Keep: j.Keep}
	if !j.Start.IsZero() {
		h.Start = j.Start.UnixNano()
	}
	return h
}

func (h head) job(setup []byte) (Job, error) {
	j := Job{Player: h.Player, Setup: setup, Frames: h.Count, Policy: h.Policy, Keep: h.Keep}
	if h.Frames > 1<<63-1 || h.Span > 1<<63-1 {
		return j, errors.New("pace: a rate out of bounds")
	}
	r, err := Every(int64(h.Frames), time.Duration(h.Span))
	if err != nil {
		return j, err
	}
	j.Rate = r
	if h.Start != 0 {
		j.Start = time.Unix(0, h.Start)
	}
	return j, nil
}

// failing is a PlayerError on the wire.
type failing struct {
	Doing string
	Frame int64
	Text  string
}

func failingOf(err error) *failing {
	var p *PlayerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p):
		return &failing{p.Doing, p.Frame, p.Err.Error()}
	}
	return &failing{"play", -1, err.Error()}
}

func (f *failing) err() error {
	if f == nil {
		return nil
	}
	return &PlayerError{f.Doing, f.Frame, errors.New(f.Text)}
}

// ended is the last message of a run.
type ended struct {
	Report  Report
	Records [][4]int64 // of the report, shorter so
	Failing *failing
}

func endedOf(r Report, err error) ended {
	e := ended{Report: r, Failing: failingOf(err), Records: make([][4]int64, len(r.Records))}
	for i, rec := range r.Records {
		e.Records[i] = [4]int64{rec.Frame, int64(rec.Late), int64(rec.Took), int64(rec.Overslept)}
	}
	e.Report.Records = nil
	return e
}

func (e *ended) outcome() (Report, error) {
	r := e.Report
	r.Records = make([]Record, len(e.Records))
	for i, rec := range e.Records {
		r.Records[i] = Record{rec[0], time.Duration(rec[1]), time.Duration(rec[2]), time.Duration(rec[3])}
	}
	return r, e.Failing.err()
}

func writeJSON(w io.Writer, kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeMessage(w, kind, b)
}

// writeMessage writes a message in one call.
func writeMessage(w io.Writer, kind byte, body []byte) error {
	b := make([]byte, 5, 5+len(body))
	b[0] = kind
	binary.BigEndian.PutUint32(b[1:], uint32(len(body)))
	_, err := w.Write(append(b, body...))
	return err
}

// readMessage reads one of at most so many bytes. io.EOF: there is none.
func readMessage(r io.Reader, most int) (kind byte, body []byte, err error) {
	var b [5]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(b[1:])
	if uint64(n) > uint64(most) {
		return 0, nil, fmt.Errorf("pace: a message of %d bytes, the most is %d", n, most)
	}
	// What is announced is not believed: the room grows with what comes.
	body, err = io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(body) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return b[0], body, err
}

// readKind reads a message that has to be of one kind, into v when it is JSON.
func readKind(r io.Reader, want byte, most int, v any) ([]byte, error) {
	kind, body, err := readMessage(r, most)
	if err != nil {
		return nil, err
	}
	if kind != want {
		return nil, fmt.Errorf("pace: a message of kind %q, not %q", kind, want)
	}
	if v != nil {
		if err := json.Unmarshal(body, v); err != nil {
			return nil, fmt.Errorf("pace: a message of kind %q: %w", kind, err)
		}
	}
	return body, nil
}
