// Command go speaks to a running hikyaku with Amazon's client for Go, aws-sdk-go-v2, and prints a line a check: "ok
// NAME" or "not ok NAME: why". It is not a test of its own: clients_test.go builds it, starts the server and runs it.
// The checks and the variables that say where the server is: ../README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	patience = time.Minute // what only a broken server needs
	account  = "000000000000"
	text     = "こんにちは 🚚 é <&> \"'\t\r\n"
	waiting  = 200
)

// session is a client with what the checks share.
type session struct {
	ctx    context.Context
	client *sqs.Client
	prefix string
}

// open makes a client, with the SDK's own transport. The SDK verifies the checksums that it is answered by itself.
func open(endpoint, key, secret string) *sqs.Client {
	return sqs.New(sqs.Options{
		BaseEndpoint: aws.String(endpoint), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(key, secret, ""), RetryMaxAttempts: 1,
		HTTPClient: &http.Client{Transport: plainBodies{awshttp.NewBuildableClient().GetTransport()}},
	})
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	s := &session{ctx, open(os.Getenv("SQS_ENDPOINT"), "any", "thing"), os.Getenv("CLIENT_PREFIX")}
	var c checks
	c.check("queues", s.queues)
	c.check("attributes", s.attributes)
	c.check("send-receive", s.sendReceive)
	c.check("batches", s.batches)
	c.check("long-poll", s.longPoll)
	c.check("many-waiting", s.manyWaiting)
	c.check("visibility", s.visibility)
	c.check("dead-letter", s.deadLetter)
	c.check("move", s.move)
	c.check("delay", s.delay)
	c.check("purge", s.purge)
	c.check("tags", s.tags)
	c.check("permission", s.permission)
	c.check("fifo", s.fifo)
	c.check("dedup", s.dedup)
	c.check("errors", s.errors)
	c.check("where", s.where)
	c.check("shared", s.shared)
	c.check("signed", s.signed)
	c.check("delete", s.deletion)
	os.Exit(c.code())
}

// make creates a queue with attributes and their values in turn, and returns its URL.
func (s *session) make(name string, attributes ...string) (string, error) {
	q, err := s.client.CreateQueue(s.ctx, &sqs.CreateQueueInput{QueueName: aws.String(s.prefix + "-" + name),
		Attributes: pairs(attributes)})
	if err != nil {
		return "", err
	}
	return *q.QueueUrl, nil
}

// pairs makes a map of names and values in turn.
func pairs(texts []string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(texts); i += 2 {
		m[texts[i]] = texts[i+1]
	}
	return m
}

func (s *session) send(url, body string, edit ...func(*sqs.SendMessageInput)) (*sqs.SendMessageOutput, error) {
	in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body}
	for _, e := range edit {
		e(in)
	}
	return s.client.SendMessage(s.ctx, in)
}

// receive receives ten messages, at once, unless edit says otherwise.
func (s *session) receive(url string, edit ...func(*sqs.ReceiveMessageInput)) ([]types.Message, error) {
	in := &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10}
	for _, e := range edit {
		e(in)
	}
	out, err := s.client.ReceiveMessage(s.ctx, in)
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

// soon waits for messages that are there, or nearly.
func soon(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = 20 }

// everything asks for all attributes of both kinds.
func everything(in *sqs.ReceiveMessageInput) {
	in.MessageSystemAttributeNames = []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll}
	in.MessageAttributeNames = []string{"All"}
}

func (s *session) delete(url string, messages []types.Message) error {
	for _, m := range messages {
		if _, err := s.client.DeleteMessage(s.ctx,
			&sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err != nil {
			return err
		}
	}
	return nil
}

// drain receives and deletes n messages, in the order in which they come.
func (s *session) drain(url string, n int, edit ...func(*sqs.ReceiveMessageInput)) (got []types.Message, err error) {
	for late := time.Now().Add(patience); len(got) < n; {
		some, err := s.receive(url, append(edit, soon)...)
		if err == nil {
			err = s.delete(url, some)
		}
		if err != nil {
			return got, err
		}
		got = append(got, some...)
		if time.Now().After(late) {
			return got, fmt.Errorf("%d of %d messages came: %q", len(got), n, bodies(got))
		}
	}
	return got, nil
}

// empty demands that nothing can be received.
func (s *session) empty(url string) error {
	got, err := s.receive(url)
	return errors.Join(err, same([]string{}, bodies(got)))
}

func bodies(messages []types.Message) []string {
	texts := []string{}
	for _, m := range messages {
		texts = append(texts, *m.Body)
	}
	return texts
}

// ask asks for attributes of a queue, in the order of their names.
func (s *session) ask(url string, names ...types.QueueAttributeName) (values []string, err error) {
	out, err := s.client.GetQueueAttributes(s.ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: names})
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		values = append(values, out.Attributes[string(n)])
	}
	return values, nil
}

// eventually asks until the answer is the wanted one.
func eventually(want any, ask func() (any, error)) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for late := time.After(patience); ; {
		got, err := ask()
		if err != nil || same(want, got) == nil {
			return err
		}
		select {
		case <-late:
			return same(want, got)
		case <-again.C:
		}
	}
}
