// Package sqsclient is a client of Amazon SQS that costs as little as can be, so that what is measured is the server.
// It reads no more of an answer than what it was asked for, and is no client for anybody else.
package sqsclient

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// Post is a server of SQS's protocol: ours, or one to compare with.
type Post struct {
	Name  string // its case
	Host  string
	child *harness.Child // nil for one that others started
	made  int
}

// OpenPost finds a server at a URL or an address.
func OpenPost(ctx context.Context, name, address string, child *harness.Child) (*Post, error) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		address = u.Host
	}
	l, err := OpenLine(ctx, address)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", name, address, err)
	}
	return &Post{Name: name, Host: address, child: child}, nil
}

// Keeping counts the syncs of the server; nil: nobody can.
func (p *Post) Keeping() *harness.Kept { return harness.Keeping(p.child) }

func (p *Post) Close() error {
	if p.child == nil {
		return nil
	}
	return p.child.Close()
}

// Ask makes a call that is not measured, on a connection of its own: a server closes one that has had nothing to do for
// long. It is made also when the run is ended early, so that queues are deleted. answer may be nil.
func (p *Post) Ask(action string, request, answer any) (err error) {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	l, err := OpenLine(context.Background(), p.Host)
	if err != nil {
		return fmt.Errorf("%s at %s: %s: %w", p.Name, p.Host, action, err)
	}
	defer func() { err = harness.JoinCleanup(err, l.Close()) }()
	got, err := l.Ask(action, text)
	if err != nil {
		return fmt.Errorf("%s at %s: %w", p.Name, p.Host, err)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(got, answer); err != nil {
		return fmt.Errorf("%s: %s: %w", p.Name, action, err)
	}
	return nil
}

// Queue is a queue of a server, made for one comparison.
type Queue struct {
	Post   *Post
	URL    string
	Groups int    // of a FIFO queue; 0: a standard queue
	Group  string // what their names begin with
	Serial atomic.Int64
	Total  int64 // messages sent less those deleted
	Waits  int64 // messages that were there when measuring began
}

// Attributes are those of a queue, by name.
type Attributes map[string]string

// NewQueue makes a queue, of a name that nobody has.
func (p *Post) NewQueue(groups int) (*Queue, error) {
	unique := make([]byte, 6)
	if _, err := rand.Read(unique); err != nil {
		return nil, err
	}
	p.made++
	name := fmt.Sprintf("hikyaku-bench-%s-%d", hex.EncodeToString(unique), p.made)
	attributes := Attributes{"VisibilityTimeout": "36000"}
	if groups > 0 {
		name += ".fifo"
		attributes["FifoQueue"] = "true"
	}
	var made struct {
		URL string `json:"QueueUrl"`
	}
	if err := p.Ask("CreateQueue", map[string]any{"QueueName": name, "Attributes": attributes}, &made); err != nil {
		return nil, err
	}
	return &Queue{Post: p, URL: made.URL, Groups: groups, Group: "g"}, nil
}

// Kind is how errors call it.
func (q *Queue) Kind() string {
	if q.Groups == 0 {
		return "a standard queue"
	}
	return fmt.Sprintf("a FIFO queue of %d groups", q.Groups)
}

// Delete takes the queue away, with what is in it.
func (q *Queue) Delete() error {
	return q.Post.Ask("DeleteQueue", map[string]any{"QueueUrl": q.URL}, nil)
}

// Check tells whether the queue holds what it should: so many messages, whether they can be received or not.
func (q *Queue) Check() error {
	names := []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}
	var got struct{ Attributes Attributes }
	if err := q.Post.Ask("GetQueueAttributes", map[string]any{"QueueUrl": q.URL, "AttributeNames": names},
		&got); err != nil {
		return err
	}
	sum := int64(0)
	for _, name := range names {
		n, err := strconv.ParseInt(got.Attributes[name], 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", q.Post.Name, name, err)
		}
		sum += n
	}
	if sum != q.Total {
		return fmt.Errorf("%s: %d messages are in the queue, there should be %d", q.Post.Name, sum, q.Total)
	}
	return nil
}

// most is how many messages a request of SQS's may hold.
const Most = 10
