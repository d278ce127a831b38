package clients_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// serve starts hikyaku with its HTTP and SQS doors.
func serve(t *testing.T, more string) *conformance.Server {
	t.Helper()
	dir := conformance.Folder(t)
	config := fmt.Sprintf("data_dir: %s\nshards: 3\napi:\n  http: { listen: 127.0.0.1:0 }\n  mysql: { off: true }\n  pubsub: { "+
		"off: true }\n  sqs: { listen: 127.0.0.1:0, rest: 60s }\n%s", filepath.Join(dir, "data"), more)
	server := conformance.Serve(t, built.Binary, dir, config, "http")
	if server.Door("sqs") == "" {
		t.Fatal("the SQS door is not open, though the HTTP door, which is the last, is")
	}
	return server
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
	open, signed := serve(t, ""), serve(t, users)
	for _, c := range clients() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Check(t, c.checks, "SQS_ENDPOINT=http://"+open.Door("sqs"), "HTTP_ENDPOINT=http://"+open.Address,
				"SIGNED_ENDPOINT=http://"+signed.Door("sqs"), "CLIENT_PREFIX="+c.Name,
				"LC_ALL=C.UTF-8", "AWS_EC2_METADATA_DISABLED=true")
		})
	}
}
