package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"time"
)

// errProcessing is what ends a request whose endpoint has said 102: it has the message.
var errProcessing = errors.New("processing")

// attempt sends a message once.
func (p *Pusher) attempt(requests context.Context, m Message) (outcome, error) {
	if requests.Err() != nil {
		return notSent, nil
	}
	deadline, err := p.deadline(requests, m)
	if err != nil {
		p.config.Report(fmt.Errorf("push to %s: message %s: %w", p.config.Endpoint, m.ID, err))
		return lost, err
	}
	ctx, cancel := context.WithDeadline(requests, deadline)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			if code == http.StatusProcessing {
				return errProcessing
			}
			return nil
		}})
	r, err := p.request(ctx, m)
	if err != nil {
		return refused, err
	}
	answer, err := p.config.Transport.RoundTrip(r) // not by a client, which would follow redirects
	switch {
	case errors.Is(err, errProcessing):
		return delivered, nil
	case err != nil && requests.Err() != nil:
		return refused, err // we stop, but the endpoint may have it
	case err != nil:
		return refused, err
	}
	finish(answer.Body)
	switch answer.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent:
		return delivered, nil
	}
	return refused, fmt.Errorf("the answer is %s", answer.Status)
}

// deadline is until when an answer to a message is waited for. One that has waited here for a while gets its whole time
// again.
func (p *Pusher) deadline(requests context.Context, m Message) (time.Time, error) {
	now := time.Now()
	whole := now.Add(p.config.AckDeadline)
	if m.Deadline.IsZero() || m.Deadline.After(whole) {
		return whole, nil
	}
	if m.Deadline.Sub(now) >= p.config.AckDeadline*9/10 {
		return m.Deadline, nil
	}
	ctx, cancel := context.WithTimeout(requests, settleTime)
	defer cancel()
	until, err := p.source.Extend(ctx, m)
	if err != nil {
		return time.Time{}, fmt.Errorf("it waited too long to be sent: %w", err)
	}
	return until, nil
}

// finish reads what little an answer has, so that its connection can be used again.
func finish(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxAnswer) // whatever it is changes nothing
	_ = body.Close()
}

// maxAnswer is how much of an answer's body is read. The connection of a longer one is closed.
const maxAnswer = 64 << 10

// settleTime is how long the source may take for one message when we stop.
const settleTime = 10 * time.Second

// settle tells the source what became of a message.
func (p *Pusher) settle(requests context.Context, m Message, o outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(requests), settleTime)
	defer cancel()
	var err error
	switch o {
	case delivered:
		err = p.source.Ack(ctx, m)
	case refused:
		err = p.source.Nack(ctx, m)
	case notSent:
		err = p.source.Return(ctx, m)
	}
	if err != nil {
		p.config.Report(fmt.Errorf("push to %s: message %s: %w", p.config.Endpoint, m.ID, err))
	}
}
