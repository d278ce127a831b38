package clients_test

import (
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// TestTheExportsOfTheDocumentsWork runs what docs/sqs.md tells programs to export, and then boto3 and the aws command
// as they are.
func TestTheExportsOfTheDocumentsWork(t *testing.T) {
	t.Parallel()
	door := serve(t, "").Door("sqs")
	conformance.Exports(t, "sqs.md", "AWS_ENDPOINT_URL_SQS", "127.0.0.1:9324", door,
		filepath.Join(built.Cache, "python", "bin"), map[string]string{
			"boto3": `python -c 'import boto3; print(boto3.client("sqs").create_queue(QueueName="exported")["QueueUrl"])'`,
			// its version 1 heeds no variable
			"aws": "aws --output text --endpoint-url http://" + door + " sqs create-queue --queue-name exported",
		}, "http://"+door+"/000000000000/exported")
}
