package clients_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTheExportsOfTheDocumentsWork runs what docs/sqs.md tells programs to export, and then boto3 and the aws command
// as they are.
func TestTheExportsOfTheDocumentsWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sqs.md"))
	if err != nil {
		t.Fatal(err)
	}
	exports := regexp.MustCompile("(?s)```sh\n(export AWS_ENDPOINT_URL_SQS=.*?)```").FindSubmatch(page)
	if exports == nil {
		t.Fatal("docs/sqs.md exports no AWS_ENDPOINT_URL_SQS")
	}
	server := serve(t, "")
	address := bytes.ReplaceAll(exports[1], []byte("127.0.0.1:9324"), []byte(server.Door("sqs")))
	bin := filepath.Join(built.Cache, "python", "bin")
	for name, command := range map[string]string{
		"boto3": `python -c 'import boto3; print(boto3.client("sqs").create_queue(QueueName="exported")["QueueUrl"])'`,
		// its version 1 heeds no variable
		"aws": "aws --output text --endpoint-url http://" + server.Door("sqs") +
			" sqs create-queue --queue-name exported",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			shell := exec.CommandContext(ctx, "sh", "-eu", "-c", string(address)+command)
			shell.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
				"HOME=" + t.TempDir(), "LC_ALL=C.UTF-8", "AWS_EC2_METADATA_DISABLED=true"}
			out, err := shell.CombinedOutput()
			if want := "http://" + server.Door("sqs") + "/000000000000/exported"; err != nil ||
				strings.TrimSpace(string(out)) != want {
				t.Errorf("%v: it prints\n%s\nnot %s", err, out, want)
			}
		})
	}
}
