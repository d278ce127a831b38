package clients_test

import (
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// TestTheExportsOfTheDocumentsWork runs what docs/functions.md tells programs to export, and then boto3 and the aws
// command as they are.
func TestTheExportsOfTheDocumentsWork(t *testing.T) {
	t.Parallel()
	door := serve(t, "http://127.0.0.1:1", "").Door("lambda")
	conformance.Exports(t, "functions.md", "AWS_ENDPOINT_URL_LAMBDA", "127.0.0.1:9001", door,
		filepath.Join(built.Cache, "python", "bin"), map[string]string{
			"boto3": `python -c 'import boto3; print(boto3.client("lambda").list_functions()["Functions"])'`,
			// its version 1 heeds no variable
			"aws": "aws --output json --query Functions --endpoint-url http://" + door + " lambda list-functions",
		}, "[]")
}
