//go:build linux

package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	sqsKills     = 3
	sqsSenders   = 4
	sqsReceivers = 4
	sqsGroups    = 8 // of a sender
	sqsLease     = 3 // seconds
)

// sqsBook is what Amazon's client was told.
type sqsBook struct {
	mu      sync.Mutex
	t       *testing.T
	sent    map[string]bool               // by body: an answer came
	seen    map[string]bool               // by body
	deleted map[string]bool               // by body: the deletion was answered
	last    map[string]int                // by group: the last number that came
	first   map[string]*sqsAnswer         // by deduplication id: what its first sending was answered
	urls    struct{ jobs, orders string } // the standard and the FIFO queue
	kills   int
}

// sqsAnswer is how a message of a FIFO queue was called.
type sqsAnswer struct{ id, sequence string }

func (b *sqsBook) answered(body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent[body] = true
}

// gone is told that a deletion was answered. A receipt is good for as long as its lease; one from before a kill may be
// of a claim that nobody knows any more, and then the message may have been given to another.
func (b *sqsBook) gone(body string, received time.Time, kills int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if kills == b.kills && time.Since(received) < sqsLease*time.Second/2 {
		b.deleted[body] = true
	}
}

// killed is told that the server is about to be killed, and counts.
func (b *sqsBook) killed(more int) (kills int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kills += more
	return b.kills
}

// received is told of a message. Those of a FIFO queue are numbered in their group: a number may come again, but none
// may be left out or come twice for the first time.
func (b *sqsBook) received(m types.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	body := *m.Body
	if b.deleted[body] {
		b.t.Errorf("%q was deleted, which was answered, and is there again", body)
	}
	b.seen[body] = true
	group, text, ordered := strings.Cut(body, "#")
	if !ordered {
		return
	}
	number, err := strconv.Atoi(text)
	if err != nil || number > b.last[group]+1 {
		b.t.Errorf("%q came behind number %d of its group: %v", body, b.last[group], err)
	}
	b.last[group] = max(number, b.last[group])
}

// same is told how a sending was answered. What was sent again has to be called as before.
func (b *sqsBook) same(dedup string, got sqsAnswer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first[dedup] == nil {
		b.first[dedup] = &got
	} else if *b.first[dedup] != got {
		b.t.Errorf("%s was answered %v first, and %v when it was sent again", dedup, *b.first[dedup], got)
	}
}

// missing is a message that was answered to its sender and has not come; "" if there is none.
func (b *sqsBook) missing() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for body := range b.sent {
		if !b.seen[body] {
			return fmt.Sprintf("%q was sent and has not come", body)
		}
	}
	return ""
}

// TestWhatSQSClientsWereToldHoldsThroughKills has Amazon's client send, receive and delete while the server is killed
// again and again: nothing sent is lost, nothing deleted comes back, groups keep their order, and what is sent twice is
// known to have been sent.
func TestWhatSQSClientsWereToldHoldsThroughKills(t *testing.T) {
	random := newRandom(t)
	data := filepath.Join(t.TempDir(), "data")
	address := freeAddress(t)
	config := "data_dir: " + data + "\napi: { http: { listen: 127.0.0.1:0 }, mysql: { off: true }, pubsub: { off: " +
		"true }, sqs: { listen: '" + address + "' } }\n"
	s := serve(t, config)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	client := sqs.New(sqs.Options{
		BaseEndpoint: aws.String("http://" + address), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("any", "thing", ""), RetryMaxAttempts: 1,
	})
	book := &sqsBook{t: t, sent: map[string]bool{}, seen: map[string]bool{}, deleted: map[string]bool{},
		last: map[string]int{}, first: map[string]*sqsAnswer{}}
	book.urls.jobs = makeSQSQueue(ctx, t, client, "jobs",
		map[string]string{"VisibilityTimeout": strconv.Itoa(sqsLease)})
	book.urls.orders = makeSQSQueue(ctx, t, client, "orders.fifo",
		map[string]string{"VisibilityTimeout": strconv.Itoa(sqsLease), "FifoQueue": "true"})

	receiving, stopReceiving := context.WithCancel(ctx)
	var receivers sync.WaitGroup
	defer receivers.Wait()
	defer stopReceiving()
	for i := range sqsReceivers {
		url := []string{book.urls.jobs, book.urls.orders}[i%2]
		receivers.Go(func() { receiveSQS(receiving, client, url, book) })
	}
	sending, stopSending := context.WithCancel(ctx)
	var senders sync.WaitGroup
	for i := range sqsSenders {
		own := rand.New(rand.NewPCG(random.Uint64(), 7))
		if i%2 == 0 {
			senders.Go(func() { sendSQS(sending, client, book, i, own) })
		} else {
			senders.Go(func() { sendOrderedSQS(sending, ctx, client, book, i, own) })
		}
	}
	for range sqsKills * *times {
		<-time.After(between(random, 150*time.Millisecond, 400*time.Millisecond))
		book.killed(1)
		s.kill()
		s = serve(t, config)
	}
	<-time.After(300 * time.Millisecond)
	stopSending()
	senders.Wait()
	until(t, func() string { return book.missing() + "\n" + s.log() }, func() bool { return book.missing() == "" })
	stopReceiving()
	receivers.Wait()
	if len(book.sent) == 0 || len(book.deleted) == 0 || len(book.first) == 0 {
		t.Errorf("%d sent, %d deleted, %d of groups: nothing was tried", len(book.sent), len(book.deleted),
			len(book.first))
	}
	t.Logf("%d sent, %d deleted, %d of groups", len(book.sent), len(book.deleted), len(book.first))
	s.stop(t)
	checkJournal(t, data)
}

func makeSQSQueue(ctx context.Context, t *testing.T, client *sqs.Client, name string,
	attributes map[string]string) (url string) {
	t.Helper()
	q, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return *q.QueueUrl
}

// sendSQS sends batches until ctx ends. Of a batch without an answer nothing is known.
func sendSQS(ctx context.Context, client *sqs.Client, book *sqsBook, sender int, random *rand.Rand) {
	for n := 0; ctx.Err() == nil; {
		in := &sqs.SendMessageBatchInput{QueueUrl: &book.urls.jobs}
		for i := range 1 + random.IntN(10) {
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)),
				MessageBody: aws.String(fmt.Sprintf("%d: %d", sender, n))})
			n++
		}
		out, err := client.SendMessageBatch(ctx, in)
		if err != nil {
			continue
		}
		for _, e := range out.Successful {
			i, err := strconv.Atoi(*e.Id)
			if err != nil {
				book.t.Errorf("an entry is called %q: %v", *e.Id, err)
				return
			}
			book.answered(*in.Entries[i].MessageBody)
		}
	}
}

// sendOrderedSQS numbers the messages of its groups until ctx ends. Each is sent, with its deduplication id, until
// there is an answer, and often once more. What was begun when ctx ends is sent to its end, within the longer life.
func sendOrderedSQS(ctx, longer context.Context, client *sqs.Client, book *sqsBook, sender int, random *rand.Rand) {
	numbers := map[string]int{}
	for ctx.Err() == nil {
		group := fmt.Sprintf("%d-%d", sender, random.IntN(sqsGroups))
		numbers[group]++
		body := fmt.Sprintf("%s#%d", group, numbers[group])
		for times := 1 + random.IntN(2); times > 0 && longer.Err() == nil; {
			out, err := client.SendMessage(longer,
				&sqs.SendMessageInput{QueueUrl: &book.urls.orders, MessageBody: &body, MessageGroupId: &group,
					MessageDeduplicationId: &body})
			if err != nil {
				continue
			}
			book.same(body, sqsAnswer{*out.MessageId, *out.SequenceNumber})
			book.answered(body)
			times--
		}
	}
}

// receiveSQS receives and deletes until ctx ends.
func receiveSQS(ctx context.Context, client *sqs.Client, url string, book *sqsBook) {
	for ctx.Err() == nil {
		kills := book.killed(0)
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10,
			WaitTimeSeconds: 1})
		if err != nil {
			continue
		}
		came := time.Now()
		for _, m := range out.Messages {
			book.received(m)
			if _, err := client.DeleteMessage(ctx,
				&sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err == nil {
				book.gone(*m.Body, came, kills)
			}
		}
	}
}
