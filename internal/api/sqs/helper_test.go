package sqs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a door over a real store over a real journal, and the SDK's client of it.
type rig struct {
	t       *testing.T
	store   *queue.Store
	door    *Server
	traffic *door.Traffic
	base    string // http://…
	clock   *fakeClock
	web     *http.Client
	client  *client.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	return newRigOver(t, Config{Rest: time.Minute}, nil, s, clock)
}

// openStore opens a store in a folder and returns what closes it.
func openStore(t *testing.T, dir string, clock func() time.Time, limits queue.Limits) (*queue.Store, func()) {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: dir, Durability: journal.OS, SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{
		Journal: j, Clock: clock, OnDemand: true, Limits: limits,
		Namespaces: map[string][]string{"default": {"test", "local", "000000000000"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		if err := s.Close(); err != nil {
			t.Error("close store:", err)
		}
		if err := j.Close(); err != nil {
			t.Error("close journal:", err)
		}
	}
}

// newRigOver opens a door over a store.
func newRigOver(t *testing.T, c Config, users *access.Users, s *queue.Store, clock *fakeClock) *rig {
	t.Helper()
	r := newRigAsking(t, c, users, s, clock)
	r.store = s
	return r
}

// newRigAsking opens a door over a store that may be another machine's.
func newRigAsking(t *testing.T, c Config, users *access.Users, s queue.Service, clock *fakeClock) *rig {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	traffic := door.NewTraffic("sqs")
	d, err := New(c, Options{Store: s, Users: users, Traffic: traffic,
		Report: func(err error) { t.Error("reported:", err) }})
	if err != nil {
		t.Fatal(err)
	}
	d.now = clock.now
	d.started = clock.now()
	addr, err := d.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, door: d, traffic: traffic, base: "http://" + addr.String(), clock: clock, web: newWeb()}
	r.client = r.as("key", "secret")
	t.Cleanup(r.close)
	return r
}

func newWeb() *http.Client {
	return &http.Client{Transport: plainBodies{&http.Transport{MaxIdleConnsPerHost: 300}}}
}

// plainBodies hides the WriteTo of requests' bodies from net/http. That of the SDK's fails as soon as there is an
// answer, and a large answer is cut off by that if net/http asks only then whether the body has ended.
type plainBodies struct{ *http.Transport }

func (p plainBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return p.Transport.RoundTrip(r)
	}
	plain := r.Clone(r.Context())
	plain.Body = struct{ io.ReadCloser }{r.Body}
	return p.Transport.RoundTrip(plain)
}

// as is the SDK's client for a user.
func (r *rig) as(key, secret string) *client.Client {
	return client.New(client.Options{
		BaseEndpoint: aws.String(r.base), Region: "eu-west-1", HTTPClient: r.web, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(key, secret, ""),
	})
}

// close closes the door.
func (r *rig) close() {
	r.web.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.door.Close(ctx); err != nil {
		r.t.Error("close door:", err)
	}
}

// queue makes a queue with attributes, name and value in turn, and returns its URL.
func (r *rig) queue(name string, attributes ...string) string {
	r.t.Helper()
	in := &client.CreateQueueInput{QueueName: &name, Attributes: map[string]string{}}
	if isFIFO(queue.Name{Name: name}) {
		in.Attributes["FifoQueue"] = "true"
	}
	for i := 0; i < len(attributes); i += 2 {
		in.Attributes[attributes[i]] = attributes[i+1]
	}
	out, err := r.client.CreateQueue(r.t.Context(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	return *out.QueueUrl
}

// send sends a text to a standard queue.
func (r *rig) send(url, body string, change ...func(*client.SendMessageInput)) *client.SendMessageOutput {
	r.t.Helper()
	in := &client.SendMessageInput{QueueUrl: &url, MessageBody: &body}
	for _, c := range change {
		c(in)
	}
	out, err := r.client.SendMessage(r.t.Context(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// group puts a message into a group of a FIFO queue, with a deduplication id that may be "".
func group(id, dedup string) func(*client.SendMessageInput) {
	return func(in *client.SendMessageInput) {
		in.MessageGroupId = &id
		if dedup != "" {
			in.MessageDeduplicationId = &dedup
		}
	}
}

// receive receives up to n messages at once, with everything that there is to know of them.
func (r *rig) receive(url string, n int32, change ...func(*client.ReceiveMessageInput)) []types.Message {
	r.t.Helper()
	in := &client.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: n, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
	for _, c := range change {
		c(in)
	}
	out, err := r.client.ReceiveMessage(r.t.Context(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Messages
}

// one receives exactly one message.
func (r *rig) one(url string, change ...func(*client.ReceiveMessageInput)) types.Message {
	r.t.Helper()
	ms := r.receive(url, 1, change...)
	if len(ms) != 1 {
		r.t.Fatalf("there are %d messages, not 1", len(ms))
	}
	return ms[0]
}

func (r *rig) delete(url string, m types.Message) error {
	_, err := r.client.DeleteMessage(r.t.Context(),
		&client.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle})
	return err
}

func (r *rig) visibility(url string, m types.Message, seconds int32) error {
	_, err := r.client.ChangeMessageVisibility(r.t.Context(),
		&client.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle,
			VisibilityTimeout: seconds})
	return err
}

// attributes are all attributes of a queue.
func (r *rig) attributes(url string) map[string]string {
	r.t.Helper()
	out, err := r.client.GetQueueAttributes(r.t.Context(),
		&client.GetQueueAttributesInput{QueueUrl: &url,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Attributes
}

func (r *rig) setAttributes(url string, attributes ...string) error {
	in := &client.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{}}
	for i := 0; i < len(attributes); i += 2 {
		in.Attributes[attributes[i]] = attributes[i+1]
	}
	_, err := r.client.SetQueueAttributes(r.t.Context(), in)
	return err
}

// post makes a request of the JSON protocol by hand.
func (r *rig) post(action string, in any) (status int, out map[string]any) {
	r.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.base, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	return r.do(req)
}

func (r *rig) do(req *http.Request) (status int, out map[string]any) {
	r.t.Helper()
	res, err := r.web.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out); err != nil {
			r.t.Fatalf("%v: %s", err, text)
		}
	}
	return res.StatusCode, out
}

func bodies(ms []types.Message) []string {
	var bs []string
	for _, m := range ms {
		bs = append(bs, *m.Body)
	}
	return bs
}

// codeOf is the code of an error of the service, as the SDK tells it.
func codeOf(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// wantCode fails the test unless err has the code.
func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	if got := codeOf(err); got != want {
		t.Errorf("the code is %q, not %q: %v", got, want, err)
	}
}

// fakeClock is a clock that tests move.
type fakeClock struct{ ahead atomic.Int64 }

func (c *fakeClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *fakeClock) pass(d time.Duration) { c.ahead.Add(int64(d)) }
