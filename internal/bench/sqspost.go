package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"sync/atomic"
)

// sqsPost is a server of SQS's protocol: ours, or one to compare with.
type sqsPost struct {
	name  string // its case
	host  string
	child *q4mChild // nil for one that others started
	made  int
}

// openSQSPost finds a server at a URL or an address.
func openSQSPost(ctx context.Context, name, address string, child *q4mChild) (*sqsPost, error) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		address = u.Host
	}
	l, err := openSQSLine(ctx, address)
	if err == nil {
		err = l.close()
	}
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", name, address, err)
	}
	return &sqsPost{name: name, host: address, child: child}, nil
}

func (p *sqsPost) close() error {
	if p.child == nil {
		return nil
	}
	return p.child.close()
}

// ask makes a call that is not measured, on a connection of its own: a server closes one that has had nothing to do for
// long. It is made also when the run is ended early, so that queues are deleted. answer may be nil.
func (p *sqsPost) ask(action string, request, answer any) (err error) {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	l, err := openSQSLine(context.Background(), p.host)
	if err != nil {
		return fmt.Errorf("%s at %s: %s: %w", p.name, p.host, action, err)
	}
	defer func() { err = joinCleanup(err, l.close()) }()
	got, err := l.ask(action, text)
	if err != nil {
		return fmt.Errorf("%s at %s: %w", p.name, p.host, err)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(got, answer); err != nil {
		return fmt.Errorf("%s: %s: %w", p.name, action, err)
	}
	return nil
}

// sqsQueue is a queue of a server, made for one comparison.
type sqsQueue struct {
	post   *sqsPost
	url    string
	groups int    // of a FIFO queue; 0: a standard queue
	group  string // what their names begin with
	serial atomic.Int64
	total  int64 // messages sent less those deleted
	waits  int64 // messages that were there when measuring began
}

type sqsAttributes map[string]string

// newQueue makes a queue, of a name that nobody has.
func (p *sqsPost) newQueue(groups int) (*sqsQueue, error) {
	unique := make([]byte, 6)
	if _, err := rand.Read(unique); err != nil {
		return nil, err
	}
	p.made++
	name := fmt.Sprintf("hikyaku-bench-%s-%d", hex.EncodeToString(unique), p.made)
	attributes := sqsAttributes{"VisibilityTimeout": "36000"}
	if groups > 0 {
		name += ".fifo"
		attributes["FifoQueue"] = "true"
	}
	var made struct {
		URL string `json:"QueueUrl"`
	}
	if err := p.ask("CreateQueue", map[string]any{"QueueName": name, "Attributes": attributes}, &made); err != nil {
		return nil, err
	}
	return &sqsQueue{post: p, url: made.URL, groups: groups, group: "g"}, nil
}

// kind is how errors call it.
func (q *sqsQueue) kind() string {
	if q.groups == 0 {
		return "a standard queue"
	}
	return fmt.Sprintf("a FIFO queue of %d groups", q.groups)
}

func (q *sqsQueue) delete() error {
	return q.post.ask("DeleteQueue", map[string]any{"QueueUrl": q.url}, nil)
}

// check tells whether the queue holds what it should: so many messages, whether they can be received or not.
func (q *sqsQueue) check() error {
	names := []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}
	var got struct{ Attributes sqsAttributes }
	if err := q.post.ask("GetQueueAttributes", map[string]any{"QueueUrl": q.url, "AttributeNames": names},
		&got); err != nil {
		return err
	}
	sum := int64(0)
	for _, name := range names {
		n, err := strconv.ParseInt(got.Attributes[name], 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", q.post.name, name, err)
		}
		sum += n
	}
	if sum != q.total {
		return fmt.Errorf("%s: %d messages are in the queue, there should be %d", q.post.name, sum, q.total)
	}
	return nil
}

// A sqsHand is a client's connection to a queue. It is for one goroutine at a time. What it does is done when a call
// returns.
type sqsHand interface {
	// send sends n messages, at most ten, in one request.
	send(n int) error
	// take waits for messages, receives n at most, at most ten, in one request and deletes them in another.
	take(n int) (int, error)
	close() error
}

// most is how many messages a request of SQS's may hold.
const sqsMost = 10
