package accounts

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// visitor calls the doors of a server as one account.
type visitor struct {
	s    *server
	dial dial
	web  *http.Client
}

func visit(t *testing.T, s *server, d dial) *visitor {
	transport := &http.Transport{DialContext: d}
	t.Cleanup(transport.CloseIdleConnections)
	return &visitor{s, d, &http.Client{Transport: transport}}
}

// call is something that a visitor does. An error is the door's.
type call struct {
	door  string
	what  string
	admin bool   // it is kept from other accounts
	deny  string // what a refusal has in it
	do    func(v *visitor, ctx context.Context, fresh string) error
}

// calls are, of each door, what changes something and what puts and takes. fresh is a name that nothing has.
var calls = []call{
	{"http", "create a queue", true, "403", func(v *visitor, ctx context.Context, fresh string) error {
		return v.ask(ctx, "http", "PUT", "/default/queues/"+fresh, "application/json", "{}", "")
	}},
	{"http", "purge", true, "403", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "http", "POST", "/default/queues/empty/purge", "application/json", "{}", "")
	}},
	{"http", "see the metrics", true, "403", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "http", "GET", "/metrics", "", "", "")
	}},
	{"http", "push by hand", true, "403", func(v *visitor, ctx context.Context, _ string) error {
		return missing(v.ask(ctx, "http", "POST", "/default/push/phones", "application/json",
			`{"attributes":{"token":"a"},"json":{}}`, ""))
	}},
	{"http", "start a campaign", true, "403", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "http", "POST", "/default/campaigns", "application/json", `{"queue":"news","json":{}}`, "")
	}},
	{"http", "see dead devices", true, "403", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "http", "GET", "/-/push/dead", "", "", "")
	}},
	{"http", "find a dead device", true, "403", func(v *visitor, ctx context.Context, _ string) error {
		return missing(v.ask(ctx, "http", "POST", "/-/push/dead/phones/find", "application/json", `{"token":"a"}`, ""))
	}},
	{"http", "revive dead devices", true, "403", func(v *visitor, ctx context.Context, _ string) error {
		return missing(v.ask(ctx, "http", "POST", "/-/push/dead/phones/revive", "application/json", `{"all":true}`, ""))
	}},
	{"http", "put", false, "", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "http", "POST", "/default/queues/news/messages", "text/plain", "hello", "")
	}},
	{"http", "put into a new queue", false, "", func(v *visitor, ctx context.Context, fresh string) error {
		return v.ask(ctx, "http", "POST", "/default/queues/"+fresh+"/messages", "text/plain", "hello", "")
	}},
	{"http", "claim", false, "", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "http", "POST", "/default/queues/news/claim", "application/json", "{}", "")
	}},
	{"sqs", "CreateQueue", true, "AccessDenied", func(v *visitor, ctx context.Context, fresh string) error {
		return v.ask(ctx, "sqs", "POST", "/", "application/x-amz-json-1.0", `{"QueueName":"`+fresh+`"}`,
			"AmazonSQS.CreateQueue")
	}},
	{"sqs", "TagQueue, with a body that goes to net/http", true, "AccessDenied",
		func(v *visitor, ctx context.Context, _ string) error {
			return v.ask(ctx, "sqs", "POST", "/", "application/x-amz-json-1.0",
				`{"QueueUrl":"/000000000000/empty","Tags":{"a":"b"}`+strings.Repeat(" ", 70<<10)+`}`, "AmazonSQS.TagQueue")
		}},
	{"sqs", "SendMessage", false, "", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "sqs", "POST", "/", "application/x-amz-json-1.0",
			`{"QueueUrl":"/000000000000/news","MessageBody":"hello"}`, "AmazonSQS.SendMessage")
	}},
	{"sqs", "ReceiveMessage", false, "", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "sqs", "POST", "/", "application/x-amz-json-1.0", `{"QueueUrl":"/000000000000/news"}`,
			"AmazonSQS.ReceiveMessage")
	}},
	{"pubsub", "CreateTopic over REST", true, "PERMISSION_DENIED",
		func(v *visitor, ctx context.Context, fresh string) error {
			return v.ask(ctx, "pubsub", "PUT", "/v1/projects/local/topics/"+fresh, "application/json", "{}", "")
		}},
	{"pubsub", "Publish over REST", false, "", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "pubsub", "POST", "/v1/projects/local/topics/papers:publish", "application/json",
			`{"messages":[{"data":"aGVsbG8="}]}`, "")
	}},
	{"pubsub", "CreateTopic", true, "PermissionDenied", func(v *visitor, ctx context.Context, fresh string) error {
		return v.remotely(func(c grpc.ClientConnInterface) error {
			_, err := pubsubpb.NewPublisherClient(c).CreateTopic(ctx,
				&pubsubpb.Topic{Name: "projects/local/topics/" + fresh})
			return err
		})
	}},
	{"pubsub", "Publish and Pull", false, "", func(v *visitor, ctx context.Context, _ string) error {
		return v.remotely(func(c grpc.ClientConnInterface) error {
			_, err := pubsubpb.NewPublisherClient(c).Publish(ctx,
				&pubsubpb.PublishRequest{Topic: "projects/local/topics/papers",
					Messages: []*pubsubpb.PubsubMessage{{Data: []byte("hello")}}})
			if err != nil {
				return err
			}
			_, err = pubsubpb.NewSubscriberClient(c).Pull(ctx,
				&pubsubpb.PullRequest{Subscription: "projects/local/subscriptions/readers", MaxMessages: 1})
			return err
		})
	}},
	{"mysql", "CREATE TABLE", true, "Error 1142", func(v *visitor, ctx context.Context, fresh string) error {
		return v.sql(ctx, "tcp", "CREATE TABLE "+strings.ReplaceAll(fresh, "-", "_")+" (a int) ENGINE=QUEUE")
	}},
	{"mysql", "CREATE TABLE by the socket", true, "Error 1142",
		func(v *visitor, ctx context.Context, fresh string) error {
			return v.sql(ctx, "unix", "CREATE TABLE "+strings.ReplaceAll(fresh, "-", "_")+"_s (a int) ENGINE=QUEUE")
		}},
	{"mysql", "SET GLOBAL", true, "Error 1227", func(v *visitor, ctx context.Context, _ string) error {
		return v.sql(ctx, "tcp", "SET GLOBAL queue_lease = 0")
	}},
	{"mysql", "INSERT", false, "", func(v *visitor, ctx context.Context, _ string) error {
		return v.sql(ctx, "tcp", "INSERT INTO news (body) VALUES ('hello')")
	}},
	{"mysql", "SELECT by the socket", false, "", func(v *visitor, ctx context.Context, _ string) error {
		return v.sql(ctx, "unix", "SELECT queue_wait('news', 1)")
	}},
	{"lambda", "CreateFunction", true, "AccessDeniedException",
		func(v *visitor, ctx context.Context, fresh string) error {
			return v.ask(ctx, "lambda", "POST", "/2015-03-31/functions", "application/json", function(fresh), "")
		}},
	{"lambda", "ListFunctions", true, "AccessDeniedException", func(v *visitor, ctx context.Context, _ string) error {
		return v.ask(ctx, "lambda", "GET", "/2015-03-31/functions", "", "", "")
	}},
	{"lambda", "Invoke", true, "AccessDeniedException", func(v *visitor, ctx context.Context, _ string) error {
		return missing(v.ask(ctx, "lambda", "POST", "/2015-03-31/functions/nothing/invocations", "application/json",
			"{}", ""))
	}},
	{"lambda", "a URL that asks for no signature", true, "AccessDeniedException",
		func(v *visitor, ctx context.Context, _ string) error {
			return missing(v.ask(ctx, "lambda", "GET", "/lambda-url/u/", "", "", ""))
		}},
}

// function is the request that makes one whose program ends at once.
func function(name string) string {
	return `{"FunctionName":"` + name +
		`","Runtime":"provided.al2023","Handler":"x","Role":"arn:aws:iam::000000000000:role/x","Code":{"ZipFile":"` +
		archive() + `"}}`
}

// archive is the code of a function, in base64.
func archive() string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "bootstrap"}
	h.SetMode(0o755)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write([]byte("#!/bin/sh\n"))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		panic(err) // a buffer takes everything
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// missing takes "there is no such function", or sink, and "it ended", for the answer to one who may ask.
func missing(err error) error {
	if err != nil && (strings.HasPrefix(err.Error(), "404 ") || strings.HasPrefix(err.Error(), "502 ")) {
		return nil
	}
	return err
}

// ask sends a request. What is not of the two hundreds is an error with all that was said.
func (v *visitor) ask(ctx context.Context, door, method, path, kind, body, target string) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+v.s.doors[door]+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if target != "" {
		req.Header.Set("X-Amz-Target", target)
	}
	res, err := v.web.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %v: %s", res.Status, res.Header, text)
	}
	return nil
}

// get is what the HTTP door answers.
func (v *visitor) get(t *testing.T, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.s.doors["http"]+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := v.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s, %v", path, res.Status, text, err)
	}
	return string(text)
}

func (v *visitor) remotely(do func(grpc.ClientConnInterface) error) error {
	c, err := grpc.NewClient("passthrough:///"+v.s.doors["pubsub"],
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn,
			error) {
			return v.dial(ctx, "tcp", addr)
		}))
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}

// open opens the MySQL door as somebody who says to be root.
func (v *visitor) open(network string) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.DBName, c.Net, c.Addr = "root", "test", "as", v.s.doors["mysql"]
	if network == "unix" {
		c.Addr = v.s.doors["socket"]
	}
	c.DialFunc = func(ctx context.Context, _, addr string) (net.Conn, error) { return v.dial(ctx, network, addr) }
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// sql runs a statement on a connection of its own.
func (v *visitor) sql(ctx context.Context, network, statement string) error {
	db, err := v.open(network)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}
