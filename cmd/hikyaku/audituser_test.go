package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/hikyaku/hikyaku/internal/freeport"
)

// asAmazon sends a request that is signed by the user ops, as Amazon's SDKs send it.
func asAmazon(t *testing.T, service, url, target, body string) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("Amz-Sdk-Invocation-Id", "id-of-"+service)
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	sum := sha256.Sum256([]byte(body))
	err = v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: "ops", SecretAccessKey: opsSecret}, r,
		hex.EncodeToString(sum[:]), service, "us-east-1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

const opsSecret = "ops-secret-of-ops"

func TestTheAuditNamesTheUserAtEachDoor(t *testing.T) {
	free, err := freeport.Find(4)
	if err != nil {
		t.Fatal(err)
	}
	s := serveHere(t, t.TempDir(), `data_dir: ${HIKYAKU_DATA}
audit: { queue: audit }
users:
  - { name: ops, secret: `+opsSecret+`, grants: [{ can: [put, take, admin], on: ["*"] }] }
api:
  http: { listen: 127.0.0.1:0 }
  sqs: { listen: "`+free[0]+`" }
  mysql: { listen: "`+free[1]+`" }
  pubsub: { listen: "`+free[2]+`" }
  lambda: { listen: "`+free[3]+`", isolation: none }
`)
	of := func(name string) string { return `{"QueueUrl": "http://` + free[0] + `/000000000000/` + name + `"}` }
	for _, call := range [][2]string{{"CreateQueue", `{"QueueName": "jobs"}`}, {"PurgeQueue", of("jobs")}} {
		if status := asAmazon(t, "sqs", "http://"+free[0]+"/", "AmazonSQS."+call[0], call[1]); status != 200 {
			t.Fatalf("%s: %d", call[0], status)
		}
	}
	if status := asAmazon(t, "sqs", "http://"+free[0]+"/", "AmazonSQS.PurgeQueue", of("audit")); status != 400 {
		t.Errorf("a purge of the audit's queue is answered by %d", status)
	}
	if status := asAmazon(t, "lambda", "http://"+free[3]+"/2020-04-22/code-signing-configs", "",
		`{"AllowedPublishers": {"SigningProfileVersionArns": ["arn:aws:signer:us-east-1:000000000000:`+
			`/signing-profiles/p/v"]}}`); status != 201 {
		t.Fatalf("CreateCodeSigningConfig: %d", status)
	}
	db, err := sql.Open("mysql", "ops:"+opsSecret+"@tcp("+free[1]+")/default?allowCleartextPasswords=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE rows_of (n int) ENGINE=QUEUE"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "TRUNCATE TABLE audit"); err == nil ||
		!strings.Contains(err.Error(), "1290 (HY000)") || !strings.Contains(err.Error(), "is the queue of the audit") {
		t.Errorf("a TRUNCATE of the audit's queue is answered by %v", err)
	}
	conn, err := grpc.NewClient(free[2], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+opsSecret)
	if _, err := pb.NewPublisherClient(conn).CreateTopic(ctx, &pb.Topic{Name: "projects/p/topics/events"}); err != nil {
		t.Fatal(err)
	}
	want := []audited{
		{Door: "sqs", Operation: "createQueue", Object: "default/jobs", Request: "id-of-sqs"},
		{Door: "sqs", Operation: "purge", Object: "default/jobs", Request: "id-of-sqs"},
		{Door: "lambda", Operation: "createCodeSigningConfig", Object: "arn:aws:lambda:",
			Request: "id-of-lambda"},
		{Door: "mysql", Operation: "createQueue", Object: "default/rows_of"},
		{Door: "pubsub", Operation: "createTopic", Object: "p/events"},
	}
	r := s.as(t, opsSecret, "audit", "--json")
	var got []audited
	for d := json.NewDecoder(strings.NewReader(r.stdout)); d.More(); {
		var a audited
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		got = append(got, a)
	}
	if len(got) != len(want) {
		t.Fatalf("the audit has\n%s%s", r.stdout, r.stderr)
	}
	for i, w := range want {
		g := got[i]
		if g.User != "ops" || !strings.HasPrefix(g.Address, "127.0.0.1:") {
			t.Errorf("%s of the door %s is by %q at %q", g.Operation, g.Door, g.User, g.Address)
		}
		if g.Door != w.Door || g.Operation != w.Operation || !strings.HasPrefix(g.Object, w.Object) ||
			g.Request != w.Request {
			t.Errorf("it has %+v, not %+v", g, w)
		}
	}
}
