package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	demoRest   = 5 * time.Millisecond  // of a writer between two messages
	demoAgain  = 50 * time.Millisecond // after an error
	demoWithin = 15 * time.Second      // for one request
)

// demoDoor is how the clients of the cluster's demo use one door.
type demoDoor struct {
	name     string
	settings string // of the door, behind where it listens
	open     func(address string) (demoClient, error)
}

// demoClient is a client of one node's door.
type demoClient interface {
	prepare(ctx context.Context) error // makes what is put into, if it is not there
	put(ctx context.Context, body string) error
	// take waits a second at most, calls took for what it was given, and settles it.
	take(ctx context.Context, took func(body string)) error
	close()
}

// demoDoors are the doors that this program has.
func demoDoors() []*demoDoor {
	all := []*demoDoor{{"http", "", openDemoHTTP}, {"sqs", "", openDemoSQS}, {"pubsub", "", openDemoPubSub}}
	if !slices.Contains(leftOut, "mysql") {
		all = append(all, &demoDoor{"mysql", ", socket: none", openDemoMySQL})
	}
	return all
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// work does a step again and again until ctx ends, with a client of the next node after each error.
func (d *demoDoor) work(ctx context.Context, b *demoBook, at []string, first int,
	step func(context.Context, *demoBook, demoClient) error) {
	for i := first; ctx.Err() == nil; i++ {
		err := d.try(ctx, at[i%len(at)], func(ctx context.Context, c demoClient) error {
			for {
				within, end := context.WithTimeout(ctx, demoWithin)
				err := step(within, b, c)
				end()
				if err != nil || ctx.Err() != nil {
					return err
				}
			}
		})
		if err != nil && ctx.Err() == nil {
			b.failed(d.name)
			pause(ctx, demoAgain)
		}
	}
}

// try does something with a client of a node.
func (d *demoDoor) try(ctx context.Context, address string, do func(context.Context, demoClient) error) error {
	c, err := d.open(address)
	if err != nil {
		return err
	}
	defer c.close()
	return do(ctx, c)
}

func (d *demoDoor) prepare(ctx context.Context, c demoClient) error { return c.prepare(ctx) }

func (d *demoDoor) write(ctx context.Context, b *demoBook, c demoClient) error {
	body := b.fresh(d.name)
	if err := c.put(ctx, body); err != nil {
		return err
	}
	b.acknowledged(d.name, body, time.Now())
	pause(ctx, demoRest)
	return nil
}

func (d *demoDoor) read(ctx context.Context, b *demoBook, c demoClient) error {
	return c.take(ctx, func(body string) { b.took(d.name, body) })
}

type demoHTTP struct{ c *httpdoor.Client }

func openDemoHTTP(address string) (demoClient, error) {
	c, err := httpdoor.NewClient(httpdoor.ClientConfig{URL: "http://" + address})
	return demoHTTP{c}, err
}

var demoJobs = queue.Name{Namespace: queue.DefaultNamespace, Name: "jobs"}

// prepare has nothing to make: the configuration names the queue.
func (h demoHTTP) prepare(ctx context.Context) error {
	_, err := h.c.Stats(ctx, demoJobs)
	return err
}

func (h demoHTTP) put(ctx context.Context, body string) error {
	_, err := h.c.Put(ctx, demoJobs, httpdoor.NewMessage([]byte(body)))
	return err
}

func (h demoHTTP) take(ctx context.Context, took func(string)) error {
	claims, err := h.c.Claim(ctx, demoJobs, httpdoor.ClaimRequest{Max: 100, Wait: httpdoor.Duration(time.Second)})
	if err != nil || len(claims) == 0 {
		return err
	}
	var done []httpdoor.Settlement
	for i := range claims {
		body, err := claims[i].Bytes()
		if err != nil {
			return err
		}
		took(string(body))
		done = append(done, httpdoor.Settlement{Token: claims[i].Token, As: httpdoor.Done})
	}
	_, err = h.c.Settle(ctx, done...)
	return err
}

func (h demoHTTP) close() { h.c.Close() }

type demoSQS struct {
	address string
	c       *http.Client
}

func openDemoSQS(address string) (demoClient, error) {
	return demoSQS{address, &http.Client{Transport: &http.Transport{}}}, nil
}

// ask sends a request of Amazon's protocol; answer is nil or what the answer is read into.
func (s demoSQS) ask(ctx context.Context, action string, fields map[string]any, answer any) error {
	fields["QueueUrl"] = "http://" + s.address + "/000000000000/letters"
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+"/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	resp, err := s.c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if text, err = io.ReadAll(resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is answered with status %d: %s", action, resp.StatusCode, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// prepare has nothing to make: the configuration names the queue.
func (s demoSQS) prepare(ctx context.Context) error {
	return s.ask(ctx, "GetQueueAttributes", map[string]any{}, nil)
}

func (s demoSQS) put(ctx context.Context, body string) error {
	return s.ask(ctx, "SendMessage", map[string]any{"MessageBody": body}, nil)
}

func (s demoSQS) take(ctx context.Context, took func(string)) error {
	var got struct {
		Messages []struct{ Body, ReceiptHandle string }
	}
	err := s.ask(ctx, "ReceiveMessage", map[string]any{"MaxNumberOfMessages": 10, "WaitTimeSeconds": 1}, &got)
	if err != nil {
		return err
	}
	for _, m := range got.Messages {
		took(m.Body)
		if err := s.ask(ctx, "DeleteMessage", map[string]any{"ReceiptHandle": m.ReceiptHandle}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s demoSQS) close() { s.c.CloseIdleConnections() }

type demoPubSub struct{ c *grpc.ClientConn }

func openDemoPubSub(address string) (demoClient, error) {
	c, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	return demoPubSub{c}, err
}

const (
	demoTopic        = "projects/local/topics/news"
	demoSubscription = "projects/local/subscriptions/readers"
)

func (p demoPubSub) prepare(ctx context.Context) error {
	_, err := pubsubpb.NewPublisherClient(p.c).CreateTopic(ctx, &pubsubpb.Topic{Name: demoTopic})
	if err != nil && status.Code(err) != codes.AlreadyExists {
		return err
	}
	_, err = pubsubpb.NewSubscriberClient(p.c).CreateSubscription(ctx, &pubsubpb.Subscription{Name: demoSubscription,
		Topic: demoTopic, AckDeadlineSeconds: 10})
	if status.Code(err) == codes.AlreadyExists {
		return nil
	}
	return err
}

func (p demoPubSub) put(ctx context.Context, body string) error {
	_, err := pubsubpb.NewPublisherClient(p.c).Publish(ctx, &pubsubpb.PublishRequest{Topic: demoTopic,
		Messages: []*pubsubpb.PubsubMessage{{Data: []byte(body)}}})
	return err
}

func (p demoPubSub) take(ctx context.Context, took func(string)) error {
	c := pubsubpb.NewSubscriberClient(p.c)
	waits, end := context.WithTimeout(ctx, time.Second)
	defer end()
	got, err := c.Pull(waits, &pubsubpb.PullRequest{Subscription: demoSubscription, MaxMessages: 100})
	if status.Code(err) == codes.DeadlineExceeded && ctx.Err() == nil {
		return nil // there was nothing
	}
	if err != nil || len(got.ReceivedMessages) == 0 {
		return err
	}
	var ids []string
	for _, m := range got.ReceivedMessages {
		took(string(m.Message.Data))
		ids = append(ids, m.AckId)
	}
	_, err = c.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: demoSubscription, AckIds: ids})
	return err
}

func (p demoPubSub) close() { p.c.Close() }

// demoMySQL has one connection: who waits for a row owns it on the connection that waited.
type demoMySQL struct {
	db *sql.DB
	c  *sql.Conn
}

func openDemoMySQL(address string) (demoClient, error) {
	c := mysql.NewConfig()
	// a logger would tell of every kill
	c.User, c.Net, c.Addr, c.DBName, c.Logger = "root", "tcp", address, "test", &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithTimeout(context.Background(), demoWithin)
	defer end()
	db := sql.OpenDB(connector)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &demoMySQL{db, conn}, nil
}

// prepare has nothing to make: the configuration names the table.
func (m *demoMySQL) prepare(ctx context.Context) error { return m.c.PingContext(ctx) }

func (m *demoMySQL) put(ctx context.Context, body string) error {
	_, err := m.c.ExecContext(ctx, "INSERT INTO entries VALUES (?)", body)
	return err
}

func (m *demoMySQL) take(ctx context.Context, took func(string)) error {
	var got int
	if err := m.c.QueryRowContext(ctx, "SELECT queue_wait('entries', 1)").Scan(&got); err != nil || got == 0 {
		return err
	}
	var body string
	if err := m.c.QueryRowContext(ctx, "SELECT id FROM entries").Scan(&body); err != nil {
		return err
	}
	took(body)
	return m.c.QueryRowContext(ctx, "SELECT queue_end()").Scan(&got)
}

func (m *demoMySQL) close() {
	m.c.Close()
	m.db.Close()
}
