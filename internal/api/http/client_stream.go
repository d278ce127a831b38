package http

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// ErrCutOff: the answer to a stream ended without its summary. Messages after the last one answered may or may not have
// been put.
var ErrCutOff = errors.New("the answer broke off before its end")

// PutStream puts messages one after another while they come, each by itself, and calls each with every answer, in the
// order of the messages: Line counts them from 1. It ends when msgs does, when msgs gives an error, when each returns
// one, or when the server stops reading; it returns only when msgs has let go, so an msgs that can wait for long should
// watch ctx. The summary counts what was answered, also beside an error.
func (c *Client) PutStream(ctx context.Context, n queue.Name, msgs iter.Seq2[Message, error],
	each func(StreamAnswer) error) (StreamSummary, error) {
	return c.stream(ctx, queuePath(n, "messages"), msgs, each)
}

// PublishStream is PutStream for the topic of that name, else for the queue of that name.
func (c *Client) PublishStream(ctx context.Context, n queue.Name, msgs iter.Seq2[Message, error],
	each func(StreamAnswer) error) (StreamSummary, error) {
	return c.stream(ctx, topicPath(n, "messages"), msgs, each)
}

func (c *Client) stream(ctx context.Context, path string, msgs iter.Seq2[Message, error],
	each func(StreamAnswer) error) (sum StreamSummary, err error) {
	ctx, cancel := context.WithCancel(ctx)
	body, w := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := writeLines(w, msgs)
		sent <- err
	}()
	defer func() {
		cancel()
		_ = body.Close() // ends the writer, if it still writes
		if failed := <-sent; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
			err = errors.Join(failed, unlessCanceled(err, failed))
		}
	}()
	answer, err := c.do(ctx, "POST", path, "application/x-ndjson", body)
	if err != nil {
		return sum, err
	}
	defer answer.Body.Close()
	return readAnswers(answer.Body, each)
}

// unlessCanceled drops the error that only followed from the other one.
func unlessCanceled(err, cause error) error {
	if err == nil || errors.Is(err, cause) || errors.Is(err, ErrCutOff) {
		return nil
	}
	return err
}

// flushAfter is how many bytes gather before they are sent while more messages are at hand.
const flushAfter = 16 << 10

// writeLines writes messages as lines. A message is sent at once when the one after it keeps us waiting: the pipe takes
// what was written only when the transport is free, and what comes meanwhile gathers.
func writeLines(w *io.PipeWriter, msgs iter.Seq2[Message, error]) error {
	g := newGatherWriter(w)
	for m, err := range msgs {
		if err == nil {
			var data []byte
			if data, err = json.Marshal(&m); err == nil {
				err = g.write(append(data, '\n'))
			}
		}
		if err != nil {
			g.close(err)
			return err
		}
	}
	return g.close(nil)
}

// maxAnswerLine bounds one line of an answer: far more than a problem has.
const maxAnswerLine = 1 << 20

// readAnswers reads answers up to the summary.
func readAnswers(body io.Reader, each func(StreamAnswer) error) (sum StreamSummary, err error) {
	r := bufio.NewReaderSize(body, 64<<10)
	for {
		text, err := readLine(r, maxAnswerLine, func(int) error { return nil })
		if err != nil && len(bytes.TrimSpace(text)) == 0 {
			if errors.Is(err, io.EOF) {
				return sum, ErrCutOff
			}
			return sum, fmt.Errorf("%w: %w", ErrCutOff, err)
		}
		var a StreamAnswer
		if err := json.Unmarshal(text, &a); err != nil {
			return sum, fmt.Errorf("not the answer of a hikyaku server: %w", err)
		}
		if a.Summary != nil {
			if a.Summary.Stopped != nil {
				return *a.Summary, a.Summary.Stopped
			}
			return *a.Summary, nil
		}
		sum.count(&a)
		if each != nil {
			if err := each(a); err != nil {
				return sum, err
			}
		}
	}
}

func (s *StreamSummary) count(a *StreamAnswer) {
	s.Lines++
	switch {
	case a.Problem != nil:
		s.Refused++
	case a.PutResult != nil && a.Duplicate:
		s.Duplicates++
	default:
		s.Put++
	}
}
