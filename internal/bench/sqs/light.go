package sqs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
)

// lightSQS is a hand that speaks to a server by a Line. Its requests are as good as ready: only the group and the
// number of a message are put in.
type lightSQS struct {
	line    *sqsclient.Line
	queue   *sqsclient.Queue
	payload string
	quoted  string // the queue's URL in JSON
	json    []byte
	handles []byte // of what was received, and ends where each ends
	ends    []int
}

func newLightSQS(ctx context.Context, q *sqsclient.Queue, payload string) (*lightSQS, error) {
	l, err := sqsclient.OpenLine(ctx, q.Post.Host)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.Post.Name, err)
	}
	return &lightSQS{line: l, queue: q, payload: payload, quoted: strconv.Quote(q.URL)}, nil
}

func (h *lightSQS) Close() error { return h.line.Close() }

// begin begins a request.
func (h *lightSQS) begin() { h.json = append(append(h.json[:0], `{"QueueUrl":`...), h.quoted...) }

// message adds the body and, in a FIFO queue, the group and what tells the message from others.
func (h *lightSQS) message() {
	h.json = append(append(append(h.json, `"MessageBody":"`...), h.payload...), '"')
	if h.queue.Groups == 0 {
		return
	}
	n := h.queue.Serial.Add(1)
	h.json = append(append(h.json, `,"MessageGroupId":"`...), h.queue.Group...)
	h.json = strconv.AppendInt(h.json, n%int64(h.queue.Groups), 10)
	h.json = strconv.AppendInt(append(h.json, `","MessageDeduplicationId":"`...), n, 10)
	h.json = append(h.json, '"')
}

func (h *lightSQS) send(n int) error {
	h.begin()
	h.json = append(h.json, ',')
	if n == 1 {
		h.message()
		h.json = append(h.json, '}')
		_, err := h.line.Ask("SendMessage", h.json)
		return err
	}
	h.json = append(h.json, `"Entries":[`...)
	for i := range n {
		if i > 0 {
			h.json = append(h.json, ',')
		}
		h.json = append(h.json, `{"Id":"`...)
		h.json = append(strconv.AppendInt(h.json, int64(i), 10), `",`...)
		h.message()
		h.json = append(h.json, '}')
	}
	h.json = append(h.json, `]}`...)
	answer, err := h.line.Ask("SendMessageBatch", h.json)
	if err != nil {
		return err
	}
	return h.whole("SendMessageBatch", answer, n)
}

// whole demands that every entry of a batch was good.
func (h *lightSQS) whole(action string, answer []byte, n int) error {
	good, rest := 0, answer
	for ok := true; ok; {
		if _, rest, ok = sqsclient.TextOf(`"Id"`, rest); ok {
			good++
		}
	}
	if _, _, failed := sqsclient.TextOf(`"Code"`, answer); failed || good != n {
		return fmt.Errorf("%w: %s: %d entries came back, not %d: %.300s", sqsclient.ErrRefused, action, good, n, answer)
	}
	return nil
}

// wait asks for n messages at most, and says when one has come; the answer is heard by got.
func (h *lightSQS) wait(n, seconds int) error {
	h.begin()
	h.json = strconv.AppendInt(append(h.json, `,"MaxNumberOfMessages":`...), int64(n), 10)
	h.json = append(strconv.AppendInt(append(h.json, `,"WaitTimeSeconds":`...), int64(seconds), 10), '}')
	return h.line.Say("ReceiveMessage", h.json)
}

// got hears what was asked for by wait: how many messages came.
func (h *lightSQS) got() (int, error) {
	answer, err := h.line.Hear("ReceiveMessage")
	if err != nil {
		return 0, err
	}
	h.handles, h.ends = h.handles[:0], h.ends[:0]
	for {
		handle, rest, ok := sqsclient.TextOf(`"ReceiptHandle"`, answer)
		if !ok {
			return len(h.ends), nil
		}
		h.handles = append(h.handles, handle...)
		h.ends = append(h.ends, len(h.handles))
		answer = rest
	}
}

// remove deletes what came.
func (h *lightSQS) remove() error {
	h.begin()
	if len(h.ends) == 1 {
		h.json = append(append(append(h.json, `,"ReceiptHandle":"`...), h.handles...), `"}`...)
		_, err := h.line.Ask("DeleteMessage", h.json)
		return err
	}
	h.json = append(h.json, `,"Entries":[`...)
	begin := 0
	for i, end := range h.ends {
		if i > 0 {
			h.json = append(h.json, ',')
		}
		h.json = strconv.AppendInt(append(h.json, `{"Id":"`...), int64(i), 10)
		h.json = append(append(append(h.json, `","ReceiptHandle":"`...), h.handles[begin:end]...), `"}`...)
		begin = end
	}
	h.json = append(h.json, `]}`...)
	answer, err := h.line.Ask("DeleteMessageBatch", h.json)
	if err != nil {
		return err
	}
	return h.whole("DeleteMessageBatch", answer, len(h.ends))
}

// How long a hand waits for a message, in seconds. One that has messages to take waits no longer than that for those
// which another's deletion sets free: ElasticMQ does not hand these over.
const (
	patienceSQS = 20 // the longest there is
	impatience  = 1
)

func (h *lightSQS) take(n int) (int, error) {
	if err := h.wait(n, impatience); err != nil {
		return 0, err
	}
	came, err := h.got()
	if err != nil || came == 0 {
		return 0, err
	}
	return came, h.remove()
}
