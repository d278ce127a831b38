package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/hikyaku/hikyaku/internal/away"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Send stores the batch: one object for each key.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	if left, why := s.far.Left(); left > 0 {
		return component.All(len(batch), component.Hold(left, why)), nil
	}
	out := make([]component.Outcome, len(batch))
	answer := func(of []int, o component.Outcome) {
		for _, i := range of {
			out[i] = o
		}
	}
	open := s.settleDoubts(ctx, batch, answer)
	for _, o := range s.objects(batch, open, out) {
		body, err := s.pack(o.body)
		if err != nil {
			return nil, err
		}
		input := &s3.PutObjectInput{Bucket: &s.config.Bucket, Key: &o.key, Body: bytes.NewReader(body)}
		if _, err = s.client.PutObject(ctx, input); err == nil {
			s.far.There()
			answer(o.of, component.OK(time.Now()))
			continue
		}
		if unsure(err) {
			s.doubt(batch, o)
		}
		answer(o.of, s.judge(err))
	}
	return out, nil
}

// judge says what becomes of messages whose object was not stored.
func (s *Sink) judge(err error) component.Outcome {
	reason := s.failed(err)
	switch code := status(err); {
	case code == 0 && away.Is(err):
		return component.Hold(s.far.Away(reason), reason)
	case code == 0:
		s.far.There() // somebody else has to find out that it is away
		return component.Again(0, reason)
	case code == http.StatusForbidden, code == http.StatusUnauthorized, code == http.StatusNotFound:
		// A key that was taken away, a bucket that is gone: no message is at fault.
		return component.Hold(s.far.Away(reason), reason)
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		s.far.There()
		o := component.Again(0, reason)
		o.Slow = true
		return o
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusConflict:
		s.far.There()
		return component.Again(0, reason)
	}
	s.far.There()
	return component.Reject(reason)
}

// failed names the bucket.
func (s *Sink) failed(err error) error {
	var said smithy.APIError
	if errors.As(err, &said) && said.ErrorMessage() != "" {
		err = fmt.Errorf("%s: %s", said.ErrorCode(), message.Shorten(said.ErrorMessage(), 500))
	}
	return fmt.Errorf("bucket %s: %w", s.config.Bucket, err)
}

// status is the server's answer; 0: it gave none.
func status(err error) int {
	var answer interface{ HTTPStatusCode() int }
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}

// unsure tells whether the object may have been stored all the same: the request had left, and its answer is lost or
// that of somebody between.
func unsure(err error) bool { return status(err) == 0 && !away.Is(err) || status(err) >= 500 }

// doubt notes which object messages may be in.
func (s *Sink) doubt(batch []*message.Message, o *object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.doubts) > maxDoubts { // the messages have become dead letters, or worse: those that come again may double
		clear(s.doubts)
	}
	for _, i := range o.of {
		s.doubts[batch[i].ID] = o.key
	}
}

// settleDoubts answers for messages that turn out to be stored, and tells which are to be stored now.
func (s *Sink) settleDoubts(ctx context.Context, batch []*message.Message,
	answer func(of []int, o component.Outcome)) (open []int) {
	in := map[string][]int{}
	s.mu.Lock()
	for i, m := range batch {
		if key, ok := s.doubts[m.ID]; ok {
			in[key] = append(in[key], i)
		} else {
			open = append(open, i)
		}
	}
	s.mu.Unlock()
	for key, of := range in {
		_, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.config.Bucket, Key: aws.String(key)})
		switch {
		case err == nil:
			s.far.There()
			answer(of, component.OK(time.Now()))
		case status(err) == http.StatusNotFound:
			open = append(open, of...)
		default:
			answer(of, s.judge(err))
			continue
		}
		s.mu.Lock()
		for _, i := range of {
			delete(s.doubts, batch[i].ID)
		}
		s.mu.Unlock()
	}
	return open
}
