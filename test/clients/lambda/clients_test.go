package clients_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// serve starts hikyaku with its HTTP, SQS and Lambda doors.
func serve(t *testing.T, endpoint, more string) *conformance.Server {
	t.Helper()
	dir := conformance.Folder(t)
	config := fmt.Sprintf("data_dir: %s\ndurability: os\napi:\n  http: { listen: 127.0.0.1:0 }\n  mysql: { off: true "+
		"}\n  pubsub: { off: true }\n  sqs: { listen: 127.0.0.1:0 }\n"+
		"  lambda: { listen: 127.0.0.1:0, retry_delay: 10ms, s3: { endpoint: %s, access_key: any, secret: thing } }\n%s",
		filepath.Join(dir, "data"), endpoint, more)
	server := conformance.Serve(t, built.Binary, dir, config, "http")
	for _, door := range []string{"sqs", "lambda"} {
		if server.Door(door) == "" {
			t.Fatalf("the door %s is not open, though the HTTP door, which is the last, is", door)
		}
	}
	return server
}

// objects starts a server of S3 and returns its address.
func objects(t *testing.T) string {
	t.Helper()
	c := exec.Command(filepath.Join(built.Cache, "s3", "bootstrap"))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatalf("%v (scripts/need-clients builds it)", err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("the server of S3: %v", err)
		}
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(address)
}

// users are those whom the programs sign for.
const users = `users:
  - name: couriers
    secret: run-and-relay
    grants: [{ can: [put, take, admin], on: ["default/*"] }]
  - name: reader
    secret: may-only-take
    grants: [{ can: [take], on: ["default/*"] }]
`

func TestEveryClientWorks(t *testing.T) {
	t.Parallel()
	endpoint := objects(t)
	open, signed := serve(t, endpoint, ""), serve(t, endpoint, users+"outbound: { allow: [loopback] }\n")
	for _, c := range clients() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Check(t, c.checks, "LAMBDA_ENDPOINT=http://"+open.Door("lambda"), "SQS_ENDPOINT=http://"+open.Door("sqs"),
				"SIGNED_ENDPOINT=http://"+signed.Door("lambda"),
				"S3_ENDPOINT="+endpoint,
				"CLIENT_PREFIX="+c.Name, "LC_ALL=C.UTF-8", "AWS_EC2_METADATA_DISABLED=true")
		})
	}
}
