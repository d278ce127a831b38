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
	open     func(address string) (*demoClient, error)
}

// demoClient is a client of one node's door. take waits a second at most, calls took for what it was given, and settles
// it.
type demoClient struct {
	put   func(ctx context.Context, body string) error
	take  func(ctx context.Context, took func(body string)) error
	close func()
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
	step func(context.Context, *demoBook, *demoClient) error) {
	for i := first; ctx.Err() == nil; i++ {
		c, err := d.open(at[i%len(at)])
		if err == nil {
			for err == nil && ctx.Err() == nil {
				within, end := context.WithTimeout(ctx, demoWithin)
				err = step(within, b, c)
				end()
			}
			c.close()
		}
		if ctx.Err() == nil {
			b.failed(d.name)
			pause(ctx, demoAgain)
		}
	}
}

func (d *demoDoor) write(ctx context.Context, b *demoBook, c *demoClient) error {
	body := b.fresh(d.name)
	if err := c.put(ctx, body); err != nil {
		return err
	}
	b.acknowledged(d.name, body, time.Now())
	pause(ctx, demoRest)
	return nil
}

func (d *demoDoor) read(ctx context.Context, b *demoBook, c *demoClient) error {
	return c.take(ctx, func(body string) { b.took(d.name, body) })
}

func demoName(name string) queue.Name {
	return queue.Name{Namespace: queue.DefaultNamespace, Name: name}
}

// prepareDemo makes the topic that is published to; the configuration has the rest.
func prepareDemo(ctx context.Context, address string) error {
	c, err := httpdoor.NewClient(httpdoor.ClientConfig{URL: "http://" + address})
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.CreateTopic(ctx, demoName("news"), nil); err != nil {
		return err
	}
	_, err = c.Subscribe(ctx, demoName("news"), "readers", httpdoor.Definition{})
	return err
}

func openDemoHTTP(address string) (*demoClient, error) {
	c, err := httpdoor.NewClient(httpdoor.ClientConfig{URL: "http://" + address})
	if err != nil {
		return nil, err
	}
	jobs := demoName("jobs")
	return &demoClient{func(ctx context.Context, body string) error {
		_, err := c.Put(ctx, jobs, httpdoor.NewMessage([]byte(body)))
		return err
	}, func(ctx context.Context, took func(string)) error {
		claims, err := c.Claim(ctx, jobs, httpdoor.ClaimRequest{Max: 100, Wait: httpdoor.Duration(time.Second)})
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
		_, err = c.Settle(ctx, done...)
		return err
	}, func() { c.Close() }}, nil
}

func openDemoSQS(address string) (*demoClient, error) {
	c := &http.Client{Transport: &http.Transport{}}
	ask := func(ctx context.Context, action string, fields map[string]any, answer any) error {
		fields["QueueUrl"] = "http://" + address + "/000000000000/letters"
		text, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/", bytes.NewReader(text))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/x-amz-json-1.0")
		req.Header.Set("X-Amz-Target", "AmazonSQS."+action)
		resp, err := c.Do(req)
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
		if len(text) == 0 {
			return nil
		}
		return json.Unmarshal(text, answer)
	}
	return &demoClient{func(ctx context.Context, body string) error {
		return ask(ctx, "SendMessage", map[string]any{"MessageBody": body}, new(any))
	}, func(ctx context.Context, took func(string)) error {
		var got struct {
			Messages []struct{ Body, ReceiptHandle string }
		}
		err := ask(ctx, "ReceiveMessage", map[string]any{"MaxNumberOfMessages": 10, "WaitTimeSeconds": 1}, &got)
		for i := 0; err == nil && i < len(got.Messages); i++ {
			took(got.Messages[i].Body)
			err = ask(ctx, "DeleteMessage", map[string]any{"ReceiptHandle": got.Messages[i].ReceiptHandle}, new(any))
		}
		return err
	}, c.CloseIdleConnections}, nil
}

func openDemoPubSub(address string) (*demoClient, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	const topic, subscription = "projects/local/topics/news", "projects/local/subscriptions/readers"
	publisher, subscriber := pubsubpb.NewPublisherClient(conn), pubsubpb.NewSubscriberClient(conn)
	return &demoClient{func(ctx context.Context, body string) error {
		_, err := publisher.Publish(ctx, &pubsubpb.PublishRequest{Topic: topic,
			Messages: []*pubsubpb.PubsubMessage{{Data: []byte(body)}}})
		return err
	}, func(ctx context.Context, took func(string)) error {
		waits, end := context.WithTimeout(ctx, time.Second)
		defer end()
		got, err := subscriber.Pull(waits, &pubsubpb.PullRequest{Subscription: subscription, MaxMessages: 100})
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
		_, err = subscriber.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: subscription, AckIds: ids})
		return err
	}, func() { conn.Close() }}, nil
}

// openDemoMySQL takes one connection: who waits for a row owns it on the connection that waited.
func openDemoMySQL(address string) (*demoClient, error) {
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
	return &demoClient{func(ctx context.Context, body string) error {
		_, err := conn.ExecContext(ctx, "INSERT INTO entries VALUES (?)", body)
		return err
	}, func(ctx context.Context, took func(string)) error {
		var got int
		if err := conn.QueryRowContext(ctx, "SELECT queue_wait('entries', 1)").Scan(&got); err != nil || got == 0 {
			return err
		}
		var body string
		if err := conn.QueryRowContext(ctx, "SELECT id FROM entries").Scan(&body); err != nil {
			return err
		}
		took(body)
		return conn.QueryRowContext(ctx, "SELECT queue_end()").Scan(&got)
	}, func() {
		conn.Close()
		db.Close()
	}}, nil
}
