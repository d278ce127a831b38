package lambda

import (
	"bytes"
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

var update = flag.Bool("update", false, "write golden files anew")

// anyCode is a folder of unpacked code, which has a number.
var anyCode = regexp.MustCompile(`/code/g-\d+/`)

// spoiled is an archive whose data are not what its sum says, as clients send it.
func spoiled(t *testing.T) string {
	t.Helper()
	archive := packed(t, "app.py", "\x00")
	archive[bytes.IndexByte(archive, 'y')+1] ^= 0xff
	return base64.StdEncoding.EncodeToString(archive)
}

func TestRefusalsAreTheServicesOwn(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	r.create("none", nil)
	r.ok(200, "PUT", "/2017-10-31/functions/none/concurrency", `{"ReservedConcurrentExecutions":0}`)
	climbing := base64.StdEncoding.EncodeToString(packed(t, "../app.py", program))
	noCode := base64.StdEncoding.EncodeToString([]byte("no archive"))
	var b strings.Builder
	for _, c := range []struct{ name, method, path, body string }{
		{"no such function", "POST", functions + "/absent/invocations", "{}"},
		{"no such version", "POST", functions + "/f/invocations?Qualifier=7", "{}"},
		{"two qualifiers", "POST", functions + "/f:1/invocations?Qualifier=2", "{}"},
		{"a name that is none", "POST", functions + "/a b/invocations", "{}"},
		{"not JSON", "POST", functions + "/f/invocations", "{"},
		{"too large", "POST", functions + "/f/invocations", `"` + strings.Repeat("x", function.MaxPayload) + `"`},
		{"too large for one that nobody waits for", "POST", functions + "/f/invoke-async",
			`"` + strings.Repeat("x", deployment.MaxEvent) + `"`},
		{"too many at once", "POST", functions + "/none/invocations", "{}"},
		{"the emulator's path with two functions", "POST", functions + "/function/invocations", "{}"},
		{"one is there", "POST", functions,
			`{"FunctionName":"f","Runtime":"python3.11","Handler":"app.handler","Code":{"ZipFile":"` + noCode + `"}}`},
		{"no archive", "POST", functions,
			`{"FunctionName":"g","Runtime":"python3.11","Handler":"app.handler","Code":{"ZipFile":"` + noCode + `"}}`},
		{"an archive that climbs out", "POST", functions,
			`{"FunctionName":"g","Runtime":"python3.11","Handler":"app.handler","Code":{"ZipFile":"` + climbing +
				`"}}`},
		{"an archive that is damaged", "POST", functions,
			`{"FunctionName":"g","Runtime":"python3.11","Handler":"app.handler","Code":{"ZipFile":"` + spoiled(t) +
				`"}}`},
		{"no bootstrap", "POST", functions, `{"FunctionName":"g","Runtime":"provided","Code":{"ZipFile":"` +
			base64.StdEncoding.EncodeToString(packed(t, "a", "")) + `"}}`},
		{"a dead letter to nowhere", "PUT", functions + "/f/configuration",
			`{"DeadLetterConfig":{"TargetArn":"arn:aws:kinesis:us-east-1:0:stream/s"}}`},
		{"code from S3", "POST", functions,
			`{"FunctionName":"g","Runtime":"python3.11","Handler":"app.handler","Code":{"S3Bucket":"bucket","S3Key":"k"}}`},
		{"no runtime", "POST", functions, `{"FunctionName":"g","Runtime":"cobol","Code":{"ZipFile":"` +
			base64.StdEncoding.EncodeToString(packed(t, "a", "")) + `"}}`},
		{"no runtime at all", "POST", functions,
			`{"FunctionName":"g","Code":{"ZipFile":"` + base64.StdEncoding.EncodeToString(packed(t, "a", "")) + `"}}`},
		{"code that climbs for one that is there", "PUT", functions + "/f/code", `{"ZipFile":"` + climbing + `"}`},
		{"another revision", "PUT", functions + "/f/configuration", `{"RevisionId":"old","Timeout":5}`},
		{"a timeout that cannot be", "PUT", functions + "/f/configuration", `{"Timeout":901}`},
		{"an alias of nothing", "POST", functions + "/f/aliases", `{"Name":"live","FunctionVersion":"1"}`},
		{"no such alias", "GET", functions + "/f/aliases/live", ""},
		{"no policy", "GET", functions + "/f/policy", ""},
		{"no such mapping", "GET", "/2015-03-31/event-source-mappings/11111111-1111-1111-1111-111111111111", ""},
		{"a mapping from a stream", "POST", "/2015-03-31/event-source-mappings/",
			`{"EventSourceArn":"arn:aws:kinesis:us-east-1:000000000000:stream/s","FunctionName":"f"}`},
		{"a mapping from no queue", "POST", "/2015-03-31/event-source-mappings/",
			`{"EventSourceArn":"arn:aws:sqs:us-east-1:000000000000:absent","FunctionName":"f"}`},
		{"provisioned for no version", "PUT", "/2019-09-30/functions/f/provisioned-concurrency?Qualifier=$LATEST",
			`{"ProvisionedConcurrentExecutions":1}`},
		{"an unknown path", "GET", "/2015-03-31/toasters", ""},
		{"an unknown method", "PATCH", functions + "/f", ""},
	} {
		g := r.call(c.method, c.path, c.body)
		b.WriteString("# " + c.name + "\n" + g.Status + " " + g.Header.Get("X-Amzn-Errortype") + "\n" +
			anyCode.ReplaceAllString(strings.ReplaceAll(g.text, r.dir, "DIR"), "/code/g-N/") + "\n\n")
	}
	path := filepath.Join("testdata", "refusals.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if g := r.invoke("f", `{"answer":1}`); g.text != "1" {
		t.Errorf("the function is not what it was: %s", g.text)
	}
}
