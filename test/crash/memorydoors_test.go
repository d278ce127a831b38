//go:build linux

package crash

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	lambdadoor "github.com/hikyaku/hikyaku/internal/api/lambda"
)

// ask makes a request by hand and returns the status and the beginning of the answer.
func ask(t *testing.T, method, url, header, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for _, line := range strings.Split(header, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	res, err := patientWeb.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1000))
	return res.StatusCode, string(text), err
}

// asked is ask for what has to go well.
func asked(t *testing.T, method, url, header, body string) {
	t.Helper()
	if code, text, err := ask(t, method, url, header, body); err != nil || code/100 != 2 {
		t.Fatalf("%s %s: %d %s %v", method, url, code, text, err)
	}
}

const (
	sqsHeader    = "Content-Type: application/x-amz-json-1.0\nX-Amz-Target: AmazonSQS."
	jsonHeader   = "Content-Type: application/json"
	subscription = "projects/local/subscriptions/subscribed"
	topicPath    = "/v1/projects/local/topics/topical"
)

func pubsubOf(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func tablesOf(t *testing.T, address string) *sql.DB { return tablesOver(t, "tcp", address) }

func tablesOver(t *testing.T, network, address string) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName, c.Logger, c.InterpolateParams, c.MaxAllowedPacket = "root", network, address,
		"test", &mysql.NopLogger{}, true, 64<<20
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(400)
	t.Cleanup(func() { db.Close() })
	return db
}

// TestManyLargeRequestsAtEachDoorNeedNoMoreThan300MB sends the largest that each door takes, many at once.
func TestManyLargeRequestsAtEachDoorNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	doors := map[string]func(t *testing.T, s *served) (taken int){
		"sqs": func(t *testing.T, s *served) int {
			url := "http://" + s.address(t, "sqs")
			asked(t, "POST", url, sqsHeader+"CreateQueue", `{"QueueName":"q"}`)
			body := fmt.Sprintf(`{"QueueUrl":"%s/000000000000/q","MessageBody":"%s"}`, url,
				strings.ReplaceAll(wide(1000<<10), "\n", "."))
			taken, _ := outcomes(t, 300, func(int) (bool, bool, error) {
				code, text, err := ask(t, "POST", url, sqsHeader+"SendMessage", body)
				return code == 200, strings.Contains(text, "RequestThrottled"),
					errors.Join(fmt.Errorf("%d %s", code, text), err)
			})
			return taken
		},
		"pubsub over REST": func(t *testing.T, s *served) int {
			url := "http://" + s.address(t, "pubsub") + topicPath
			asked(t, "PUT", url, jsonHeader, "{}")
			asked(t, "PUT", "http://"+s.address(t, "pubsub")+"/v1/"+subscription, jsonHeader,
				`{"topic":"projects/local/topics/topical"}`)
			body := `{"messages":[{"data":"` + base64.StdEncoding.EncodeToString([]byte(wide(9<<20))) + `"}]}`
			taken, _ := outcomes(t, 60, func(int) (bool, bool, error) {
				code, text, err := ask(t, "POST", url+":publish", jsonHeader, body)
				return code == 200, code == 503 || code == 429, errors.Join(fmt.Errorf("%d %s", code, text), err)
			})
			return taken
		},
		"lambda": func(t *testing.T, s *served) int {
			url := "http://" + s.address(t, "lambda") + "/2015-03-31/functions/absent/invocations"
			body := `"` + strings.ReplaceAll(wide(5<<20), "\n", ".") + `"`
			taken, _ := outcomes(t, 200, func(int) (bool, bool, error) {
				code, text, err := ask(t, "POST", url, jsonHeader, body)
				// it was read and looked at: there is no such function
				return code == 404, code == 429, errors.Join(fmt.Errorf("%d %s", code, text), err)
			})
			return taken
		},
		"mysql": func(t *testing.T, s *served) int {
			db := tablesOf(t, s.address(t, "mysql"))
			if _, err := db.ExecContext(t.Context(),
				"CREATE TABLE big (body LONGTEXT NOT NULL) ENGINE=QUEUE"); err != nil {
				t.Fatal(err)
			}
			body := wide(12 << 20)
			taken, _ := outcomes(t, 40, func(int) (bool, bool, error) {
				_, err := db.ExecContext(t.Context(), "INSERT INTO big VALUES (?)", body)
				var e *mysql.MySQLError
				return err == nil, errors.As(err, &e) && e.Number == 1041, err
			})
			return taken
		},
	}
	for _, name := range some(t, 1, slices.Sorted(maps.Keys(doors))...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveWithin(t, tight)
			if doors[name](t, s) == 0 {
				t.Error("none was taken")
			}
			s.survived(t, tight)
		})
	}
}

// readers is how many clients ask for much and read nothing.
const readers = 200

// silent makes a request and reads nothing of its answer: not even the kernel takes much of it.
func silent(t *testing.T, address, request string) {
	t.Helper()
	d := net.Dialer{Control: smallBuffer}
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
}

func posted(path, header, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: %d\r\n\r\n%s", path,
		strings.ReplaceAll(header, "\n", "\r\n"), len(body), body)
}

// TestClientsThatDoNotReadNeedNoMoreThan300MB has many clients at each door ask for as much as they may, and read
// nothing of it.
func TestClientsThatDoNotReadNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	httpFill := func(t *testing.T, s *served, n, size int) {
		for range n {
			s.put(t, "q", strings.ReplaceAll(wide(size), "\n", "."))
		}
	}
	subscribe := func(t *testing.T, s *served) string {
		address := s.address(t, "pubsub")
		asked(t, "PUT", "http://"+address+topicPath, jsonHeader, "{}")
		asked(t, "PUT", "http://"+address+"/v1/"+subscription, jsonHeader,
			`{"topic":"projects/local/topics/topical","ackDeadlineSeconds":600}`)
		for range 300 {
			if _, err := s.client.Put(t.Context(), queueName("subscribed"),
				httpdoor.NewMessage([]byte(wide(1<<20)))); err != nil {
				t.Fatal(err)
			}
		}
		return address
	}
	doors := map[string]func(t *testing.T, s *served){
		"http": func(t *testing.T, s *served) {
			httpFill(t, s, 300, 1<<20)
			for i := range readers {
				if i%2 == 0 {
					silent(t, s.address(t, "http"), "GET /default/queues/q/messages?max=1000&max_bytes=1000000000 "+
						"HTTP/1.1\r\nHost: localhost\r\n\r\n")
				} else {
					silent(t, s.address(t, "http"), posted("/default/queues/q/claim", jsonHeader, `{"max":1000}`))
				}
			}
		},
		"sqs": func(t *testing.T, s *served) {
			httpFill(t, s, 600, 1<<20)
			for range readers {
				silent(t, s.address(t, "sqs"),
					posted("/", sqsHeader+"ReceiveMessage",
						`{"QueueUrl":"http://localhost/000000000000/q","MaxNumberOfMessages":10}`))
			}
		},
		"pubsub over REST": func(t *testing.T, s *served) {
			address := subscribe(t, s)
			for range readers {
				silent(t, address, posted("/v1/"+subscription+":pull", jsonHeader, `{"maxMessages":1000}`))
			}
		},
		"pubsub over gRPC": func(t *testing.T, s *served) {
			address := subscribe(t, s)
			for range readers {
				stream, err := pubsubpb.NewSubscriberClient(pubsubOf(t, address)).StreamingPull(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := stream.Send(&pubsubpb.StreamingPullRequest{Subscription: subscription,
					StreamAckDeadlineSeconds: 600}); err != nil {
					t.Fatal(err)
				}
			}
		},
		"lambda": func(t *testing.T, s *served) {
			httpFill(t, s, 4, 1<<20)
			code := filepath.Join(t.TempDir(), "code")
			build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(code, "bootstrap"),
				"./testdata/caller")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("cannot build the function: %v\n%s", err, out)
			}
			address := s.address(t, "lambda")
			if r := hikyaku(t, "", "function", "deploy", "large", "--runtime", "provided.al2023", "--code", code,
				"--url", "http://"+address); r.code != 0 {
				t.Fatalf("%+v", r)
			}
			lambda, err := lambdadoor.NewClient(lambdadoor.ClientConfig{URL: "http://" + address})
			if err != nil {
				t.Fatal(err)
			}
			defer lambda.Close()
			event := posted("/2015-03-31/functions/large/invocations", jsonHeader,
				fmt.Sprintf(`{"method":"GET","url":"http://%s/default/queues/q/messages?max=4"}`, s.address(t, "http")))
			answered := int64(0)
			for n := range int64(40) { // one at a time: each has an instance, whose memory counts, too
				silent(t, address, event)
				for end := time.Now().Add(2 * time.Second); answered <= n && time.Now().Before(end); <-after(20) {
					all, err := lambda.Functions(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					answered = all.Functions[0].Invokes
				}
			}
			t.Logf("%d invocations have answered", answered)
			if answered < 20 {
				t.Errorf("%d invocations have answered", answered)
			}
		},
		"mysql": func(t *testing.T, s *served) {
			httpFill(t, s, 300, 1<<20)
			mysql.RegisterDialContext("silent", func(ctx context.Context, address string) (net.Conn, error) {
				return (&net.Dialer{Control: smallBuffer}).DialContext(ctx, "tcp", address)
			})
			db := tablesOver(t, "silent", s.address(t, "mysql"))
			for range readers {
				go func() {
					rows, err := db.QueryContext(t.Context(), "SELECT * FROM q")
					if err == nil {
						<-t.Context().Done()
						rows.Close()
					}
				}()
			}
		},
	}
	for _, name := range some(t, 1, slices.Sorted(maps.Keys(doors))...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveWithin(t, tight)
			doors[name](t, s)
			settled(t, s)
			s.survived(t, tight)
		})
	}
}

// settled waits until the readers hold what they can get: until the peak of memory stands still, or those who came
// first were ended for not reading and others had their turns.
func settled(t *testing.T, s *served) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for last, same := int64(0), 0; same < 30 && ctx.Err() == nil; {
		select {
		case <-s.drained:
			return
		case <-after(100):
		}
		if peak, ok := s.peak(); !ok {
			return // it is ending
		} else if peak == last {
			same++
		} else {
			last, same = peak, 0
		}
	}
}
