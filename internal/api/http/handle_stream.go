package http

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// StreamAnswer is a line of the answer to a stream of messages: what became of one line, or, as the last one, the
// summary of all. An answer without a summary was cut off.
type StreamAnswer struct {
	Line int `json:"line,omitempty"` // from 1; 0 in the summary
	*PutResult
	Problem *Problem       `json:"problem,omitempty"`
	Summary *StreamSummary `json:"summary,omitempty"`
}

// StreamSummary tells what became of a whole stream.
type StreamSummary struct {
	Lines      int `json:"lines"` // that were read and were not blank
	Put        int `json:"put"`
	Duplicates int `json:"duplicates"`
	Refused    int `json:"refused"`
	Unheard    int `json:"unheard,omitempty"` // of those put: dropped, because the topic has no subscription
	// Stopped is why the stream was not read to its end; nil when it was. Lines after the last one that was answered
	// were not put.
	Stopped *Problem `json:"stopped,omitempty"`
}

// putStream puts NDJSON: while one group is made durable the next one gathers, and each line is answered by a line.
// With answers=failures only refused lines are, for clients that do not read while they send.
func (c *call) putStream(p putter) error {
	if err := c.only("answers"); err != nil {
		return err
	}
	which := c.r.URL.Query().Get("answers")
	if which != "" && which != "all" && which != "failures" {
		return badRequest.problemf("answers=%.40s is neither all nor failures", which)
	}
	if c.r.ProtoMajor == 1 {
		if err := c.w.control.EnableFullDuplex(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		c.w.Header().Set("Connection", "close") // the deadline that ends the reading leaves no connection to use again
	}
	c.w.Header().Set("Content-Type", "application/x-ndjson")
	c.w.Header().Set("Cache-Control", "no-store")
	s := &stream{c: c, p: p, quiet: which == "failures"}
	c.unhurried()
	lines := gather(c.r.Body, int(c.d.config.MaxBodyBytes), c.d.busy, c.d.tooBusy)
	linger := time.Duration(0)
	defer func() {
		// The reader may be waiting for a client that will send nothing more.
		_ = c.w.control.SetReadDeadline(time.Now().Add(linger)) // a recorder has none, and its bodies end
		lines.stop()
	}()
	ctx, cancel := c.d.untilStop(c.ctx())
	defer cancel()
	unwatch := context.AfterFunc(ctx, lines.abandon)
	defer unwatch()
	for {
		group, err := lines.take()
		if err != nil {
			s.stopped(err)
			break
		}
		if len(group) == 0 {
			break
		}
		goOn := s.group(group)
		lines.settled(group)
		if !goOn {
			break
		}
		if err := s.send(); err != nil {
			return err
		}
	}
	if c.d.stopping.Err() != nil && s.sum.Stopped == nil {
		s.sum.Stopped = problemFor(queue.ErrClosed).problem("the server is stopping")
	}
	s.answer(StreamAnswer{Summary: &s.sum})
	if err := s.send(); err != nil {
		return err
	}
	linger = lingerTime
	return nil
}

// lingerTime is how long a stream that was stopped is read on and thrown away: closing the connection under a client
// that still sends would take the summary from it.
const lingerTime = time.Second

// stream is the state of one stream.
type stream struct {
	c     *call
	p     putter
	quiet bool
	sum   StreamSummary
	out   []byte
}

func (s *stream) answer(a StreamAnswer) {
	data, err := json.Marshal(a)
	if err != nil {
		return // can not be: it holds numbers and texts
	}
	s.out = append(append(s.out, data...), '\n')
}

func (s *stream) send() error {
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.c.w.Write(s.out)
	s.out = s.out[:0]
	if err != nil {
		return err
	}
	return s.c.w.flush()
}

func (s *stream) stopped(err error) {
	p, known := problemOf(err)
	if !known {
		s.c.d.report(err)
	}
	s.c.d.note(err)
	s.sum.Stopped = p
}

// group puts what can be put of some lines and answers each; false ends the stream.
func (s *stream) group(lines []line) bool {
	msgs := make([]message.Message, 0, len(lines))
	problems := make([]error, len(lines))
	hold := door.Hold{Of: s.c.d.busy}
	defer hold.End()
	for i, l := range lines {
		if err := hold.Values(l.text, valueWeight); err != nil {
			problems[i] = s.c.noBody(err)
			continue
		}
		var wire Message
		if err := decode(l.text, &wire); err != nil {
			problems[i] = err
			continue
		}
		m, err := wire.message(l.arrived)
		if err != nil {
			problems[i] = badRequest.problem(err.Error())
			continue
		}
		msgs = append(msgs, m)
	}
	results, refused, fatal := s.put(msgs)
	next := 0
	for i, l := range lines {
		if problems[i] == nil {
			if next >= len(results) { // the fatal error hit before this one
				break
			}
			problems[i] = refused[next]
			next++
		}
		s.one(l.number, problems[i], results, next-1)
	}
	if fatal != nil {
		s.stopped(fatal)
	}
	return fatal == nil
}

func (s *stream) one(number int, problem error, results []queue.PutResult, i int) {
	s.sum.Lines++
	if problem != nil {
		s.sum.Refused++
		p, _ := problemOf(problem)
		s.answer(StreamAnswer{Line: number, Problem: p})
		return
	}
	if results[i].Duplicate {
		s.sum.Duplicates++
	} else {
		s.sum.Put++
	}
	if results[i].Unheard {
		s.sum.Unheard++
	}
	if !s.quiet {
		r := putResult(results[i])
		s.answer(StreamAnswer{Line: number, PutResult: &r})
	}
}

// put puts messages as one group and, when one of them is at fault, each by itself. results and refused are as long as
// what was tried; fatal is what would happen to every further message too.
func (s *stream) put(msgs []message.Message) (results []queue.PutResult, refused []error, fatal error) {
	if len(msgs) == 0 {
		return nil, nil, nil
	}
	if err := s.c.may(access.Put, s.p.name); err != nil { // it may have been taken away since the stream began
		return nil, nil, err
	}
	results, err := s.p.do(s.c.ctx(), msgs)
	switch {
	case err == nil:
		return results, make([]error, len(msgs)), nil
	case !atFault(err):
		return nil, nil, err
	case len(msgs) == 1:
		return make([]queue.PutResult, 1), []error{err}, nil
	}
	results = nil
	for i := range msgs {
		r, err := s.p.do(s.c.ctx(), msgs[i:i+1])
		if err != nil && !atFault(err) {
			return results, refused, err
		}
		refused = append(refused, err)
		if err != nil {
			r = make([]queue.PutResult, 1)
		}
		results = append(results, r...)
	}
	return results, refused, nil
}

// atFault tells whether the message is why a put failed, not the queue or the store.
func atFault(err error) bool {
	return errors.Is(err, queue.ErrMismatch) || errors.Is(err, queue.ErrTooLarge)
}
