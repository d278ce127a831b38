package sqs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
)

// sdkSQS is a hand that is Amazon's client, as programs use it: it signs, and verifies checksums. All hands of a crew
// share a client and its connections.
type sdkSQS struct {
	ctx     context.Context
	client  *sqs.Client
	queue   *sqsclient.Queue
	payload string
}

// newSDK makes a client that keeps as many connections.
func newSDK(host string, connections int) (client *sqs.Client, closeIdle func()) {
	d := net.Dialer{Timeout: 10 * time.Second}
	t := &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: connections}
	client = sqs.New(sqs.Options{
		BaseEndpoint: aws.String("http://" + host), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("any", "thing", ""),
		HTTPClient:  &http.Client{Transport: wholeRequests{t}}, RetryMaxAttempts: 1,
	})
	return client, t.CloseIdleConnections
}

// wholeRequests gives net/http the bodies of requests as bytes. The SDK's own body is closed as soon as there is an
// answer. If that is before net/http has seen where the body ends, which happens when the server is fast, it takes the
// request for failed and cuts the answer off.
type wholeRequests struct{ transport *http.Transport }

func (w wholeRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return w.transport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	whole := r.Clone(r.Context())
	whole.Body = io.NopCloser(bytes.NewReader(body))
	return w.transport.RoundTrip(whole)
}

func (*sdkSQS) Close() error { return nil }

func (h *sdkSQS) send(n int) error {
	if n == 1 {
		_, err := h.client.SendMessage(h.ctx, &sqs.SendMessageInput{QueueUrl: &h.queue.URL, MessageBody: &h.payload})
		return err
	}
	in := &sqs.SendMessageBatchInput{QueueUrl: &h.queue.URL}
	for i := range n {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)),
			MessageBody: &h.payload})
	}
	out, err := h.client.SendMessageBatch(h.ctx, in)
	if err == nil && len(out.Failed) > 0 {
		err = fmt.Errorf("%w: SendMessageBatch: %d entries", sqsclient.ErrRefused, len(out.Failed))
	}
	return err
}

func (h *sdkSQS) take(n int) (int, error) {
	out, err := h.client.ReceiveMessage(h.ctx,
		&sqs.ReceiveMessageInput{QueueUrl: &h.queue.URL, MaxNumberOfMessages: int32(n), WaitTimeSeconds: impatience})
	if err != nil || len(out.Messages) == 0 {
		return 0, err
	}
	if len(out.Messages) == 1 {
		_, err := h.client.DeleteMessage(h.ctx,
			&sqs.DeleteMessageInput{QueueUrl: &h.queue.URL, ReceiptHandle: out.Messages[0].ReceiptHandle})
		return 1, err
	}
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &h.queue.URL}
	for i, m := range out.Messages {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)),
			ReceiptHandle: m.ReceiptHandle})
	}
	deleted, err := h.client.DeleteMessageBatch(h.ctx, in)
	if err == nil && len(deleted.Failed) > 0 {
		err = fmt.Errorf("%w: DeleteMessageBatch: %d entries", sqsclient.ErrRefused, len(deleted.Failed))
	}
	return len(out.Messages), err
}

// withSDK lets Amazon's client and the light one take turns at queues of our server.
func (s *session) withSDK(ctx context.Context, clients int) error {
	for _, batch := range []int{1, sqsclient.Most} {
		if err := s.sdkAgainstLight(ctx, sqsWork{clients: clients, batch: batch}); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) sdkAgainstLight(ctx context.Context, w sqsWork) (err error) {
	client, closeIdle := newSDK(s.ours.Host, w.clients)
	defer closeIdle()
	var queues []*sqsclient.Queue
	var crews []*sqsCrew
	defer func() { err = harness.JoinCleanup(err, errors.Join(closeCrews(crews), deleteAll(queues))) }()
	for i := range 2 {
		q, err := s.ours.NewQueue(0)
		if err != nil {
			return err
		}
		queues = append(queues, q)
		hire := func() (Hand, error) { return newLightSQS(ctx, q, s.payload) }
		if i == 0 {
			hire = func() (Hand, error) { return &sdkSQS{ctx, client, q, s.payload}, nil }
		}
		c, err := newSQSCrew(q, w.clients, w.batch, hire)
		if err != nil {
			return err
		}
		crews = append(crews, c)
	}
	if err := s.turns(ctx, crews); err != nil {
		return err
	}
	sent, taken := s.sqsRows(caseSDK, w, crews[0])
	harness.SetRatio(sent, "ratio_light", ratiosOf(crews[0].sent, crews[1].sent))
	harness.SetRatio(taken, "ratio_light", ratiosOf(crews[0].taken, crews[1].taken))
	return nil
}
