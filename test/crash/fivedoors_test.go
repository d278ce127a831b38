//go:build linux

package crash

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	pubsub "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	gax "github.com/googleapis/gax-go/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

const fiveDoorKills = 10

// recording is a function that writes down the ids of its events.
const recording = `
import os
f = open(os.environ["HERE"] + "/done", "a", buffering=1)
def handler(event, context): f.write(event["id"] + "\n")
`

// allDoors is a configuration with all doors on free ports, and a function whose code is in the folder here.
func allDoors(here, data string, shards int) string {
	return fmt.Sprintf(`data_dir: %s
shards: %d
api:
  http: { listen: 127.0.0.1:0 }
  mysql: { listen: 127.0.0.1:0, socket: none }
  pubsub: { listen: 127.0.0.1:0 }
  sqs: { listen: 127.0.0.1:0 }
  lambda: { listen: 127.0.0.1:0, isolation: none, retry_delay: 10ms }
queues:
  jobs: { lease: 2s }
  letters: { lease: 2s }
  history: {}
  exact: { exactly_once: true }
  entries: { columns: ["id varchar(40) not null"] }
functions:
  recording: { runtime: python3, handler: code.handler, code: %s, concurrency: 1, environment: { HERE: %s } }
`, data, shards, here, here)
}

// TestWhatFiveDoorsPromisedHoldsThroughKills puts through all five doors at once, and takes what was put, while the
// server is killed again and again: nothing that was acknowledged is lost, and nothing that was settled comes back.
func TestWhatFiveDoorsPromisedHoldsThroughKills(t *testing.T) {
	for _, shards := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d shards", shards), func(t *testing.T) { killFiveDoors(t, shards, fiveDoorKills/2**times) })
	}
}

// killFiveDoors is that for a server with so many shards.
func killFiveDoors(t *testing.T, shards, kills int) {
	random := newRandom(t)
	here := t.TempDir()
	write(t, filepath.Join(here, "code.py"), recording)
	data := filepath.Join(here, "data")
	config := allDoors(here, data, shards)
	book := newPromises(t)
	// What was written before a claim was handed out survives the process, so none may be forgotten.
	told := writeHistory(t.Context(), newHistory(t, func() []time.Time { return nil }), random, 5*time.Millisecond, "")
	for i := range kills {
		s := serve(t, config)
		told.doors.set("", s.client)
		if i == 0 {
			s.subscribeReaders(t)
		}
		ctx, stop := context.WithCancel(t.Context())
		over := putThroughAll(ctx, t, s, book, 0)
		takeFrom(ctx, over, s, book, "jobs", "letters", "readers")
		<-time.After(between(random, time.Millisecond, 130*time.Millisecond))
		told.doors.set("", nil)
		s.kill()
		stop()
		over.Wait()
		if i%100 == 99 {
			t.Logf("%d kills: %s", i+1, book)
			told.h.check()
		}
	}
	s := serve(t, config)
	defer s.kill()
	ctx, stop := context.WithCancel(t.Context())
	var takers sync.WaitGroup
	takeFrom(ctx, &takers, s, book, "jobs", "letters", "readers")
	s.giveRows(t, book)
	told.doors.set("", s.client)
	told.end(s)
	// An event that found the function busy waits again for half as long as it has waited, at most five minutes, as
	// with the service.
	untilWithin(t, 5*time.Minute+patience, func() string { return book.String() + "\n" + s.log() }, func() bool {
		for id, hands := range written(t, filepath.Join(here, "done")) {
			book.handed(id, hands)
		}
		return len(book.missing()) == 0
	})
	stop()
	takers.Wait()
	for _, door := range []string{"http", "sqs", "mysql", "pubsub", "lambda"} {
		if !book.tried(door) {
			t.Errorf("nothing was acknowledged through the door %s", door)
		}
	}
	t.Logf("%d kills: %s; %s", kills, book, told.h)
	s.stop(t)
	checkJournal(t, data)
}

// giveRows notes what is in the table.
func (s *served) giveRows(t *testing.T, book *promises) {
	t.Helper()
	rows, err := s.tables(t).QueryContext(t.Context(), "SELECT id FROM entries")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		book.given(time.Now(), id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// subscribeReaders makes the topic that putThroughAll publishes to.
func (s *served) subscribeReaders(t *testing.T) {
	t.Helper()
	if _, err := s.client.CreateTopic(t.Context(), queueName("news"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Subscribe(t.Context(), queueName("news"), "readers", httpdoor.Definition{}); err != nil {
		t.Fatal(err)
	}
}

// putThroughAll puts through each door, one message after the other with a pause between them, until ctx ends.
func putThroughAll(ctx context.Context, t *testing.T, s *served, book *promises, pause time.Duration) *sync.WaitGroup {
	t.Helper()
	var over sync.WaitGroup
	put := func(door string, pause time.Duration, one func(body string) error) {
		over.Go(func() {
			for ctx.Err() == nil {
				body := book.fresh(door)
				rest := pause
				if one(body) == nil {
					book.acknowledged(body)
				} else {
					rest = 5 * time.Millisecond
				}
				if rest > 0 {
					<-time.After(rest)
				}
			}
		})
	}
	put("http", pause, func(body string) error {
		_, err := s.client.Put(ctx, queueName("jobs"), httpdoor.NewMessage([]byte(body)))
		return err
	})
	at := s.address(t, "sqs")
	letters := sqs.New(sqs.Options{
		BaseEndpoint: aws.String("http://" + at), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("any", "thing", ""), RetryMaxAttempts: 1,
	})
	url := "http://" + at + "/000000000000/letters"
	put("sqs", pause, func(body string) error {
		_, err := letters.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
		return err
	})
	db := s.tables(t)
	put("mysql", pause, func(body string) error {
		_, err := db.ExecContext(ctx, "INSERT INTO entries VALUES (?)", body)
		return err
	})
	news, err := pubsub.NewTopicAdminClient(ctx, option.WithEndpoint(s.address(t, "pubsub")),
		option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	put("pubsub", pause, func(body string) error {
		_, err := news.Publish(ctx, &pubsubpb.PublishRequest{Topic: "projects/local/topics/news",
			Messages: []*pubsubpb.PubsubMessage{{Data: []byte(body)}}},
			gax.WithRetry(func() gax.Retryer { return nil }))
		return err
	})
	// What a function has not taken yet waits for the last server: a slow client leaves it little.
	put("lambda", pause+20*time.Millisecond, func(body string) error {
		status, err := post(t, s, "/2015-03-31/functions/recording/invocations", fmt.Sprintf(`{"id":%q}`, body))
		if err == nil && status != http.StatusAccepted {
			err = fmt.Errorf("status %d", status)
		}
		return err
	})
	context.AfterFunc(ctx, func() {
		db.Close()
		news.Close()
	})
	return &over
}

// takeFrom has somebody take from each of some queues.
func takeFrom(ctx context.Context, over *sync.WaitGroup, s *served, book *promises, names ...string) {
	for _, name := range names {
		over.Go(func() { takeAll(ctx, s.client, name, book) })
	}
}

// takeAll claims and settles what is in a queue until ctx ends, or the server does.
func takeAll(ctx context.Context, c *httpdoor.Client, name string, book *promises) {
	for ctx.Err() == nil {
		asked := time.Now()
		claims, err := c.Claim(ctx, queueName(name),
			httpdoor.ClaimRequest{Max: 100, Wait: httpdoor.Duration(50 * time.Millisecond)})
		if err != nil || len(claims) == 0 {
			continue
		}
		var settlements []httpdoor.Settlement
		var bodies []string
		for i := range claims {
			b, err := claims[i].Bytes()
			if err != nil {
				book.t.Error(err)
			}
			bodies = append(bodies, string(b))
			settlements = append(settlements, httpdoor.Settlement{Token: claims[i].Token, As: httpdoor.Done})
		}
		book.given(asked, bodies...)
		answers, err := c.Settle(ctx, settlements...)
		for i := range answers {
			if err == nil && answers[i].OK {
				book.settled(bodies[i])
			}
		}
	}
}

// takeRows owns and ends rows of the table, one after the other over one connection, until ctx ends.
func takeRows(ctx context.Context, over *sync.WaitGroup, db *sql.DB, book *promises) {
	over.Go(func() {
		for ctx.Err() == nil {
			c, err := db.Conn(ctx)
			if err != nil {
				<-time.After(50 * time.Millisecond) // nobody has the table now
				continue
			}
			for err == nil && ctx.Err() == nil {
				err = endRow(ctx, c, book)
			}
			_ = c.Close() // what it owned goes back
		}
	})
}

func endRow(ctx context.Context, c *sql.Conn, book *promises) error {
	asked := time.Now()
	var one int
	if err := c.QueryRowContext(ctx, "SELECT queue_wait('entries', 1)").Scan(&one); err != nil || one == 0 {
		return err
	}
	var id string
	if err := c.QueryRowContext(ctx, "SELECT id FROM entries").Scan(&id); err != nil {
		return err
	}
	book.given(asked, id)
	err := c.QueryRowContext(ctx, "SELECT queue_end()").Scan(&one)
	if err == nil {
		book.settled(id)
	}
	return err
}
