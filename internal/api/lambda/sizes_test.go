package lambda

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/lambda/s3"
)

func TestWhatIsTooLargeIsRefusedByTheServicesBounds(t *testing.T) {
	objects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(s3.MaxBytes+1))
	}))
	defer objects.Close()
	r := openRig(t, t.TempDir(), Config{S3: s3.Config{Endpoint: objects.URL}}, nil)
	const create = `{"FunctionName":"g","Runtime":"python3.11","Handler":"app.handler","Code":{`
	zipped := base64.StdEncoding.EncodeToString(make([]byte, 52428800+1))
	for _, c := range []struct {
		method, path, body string
		status             int
		kind, text         string
	}{
		{"POST", functions, create + `"ZipFile":"` + strings.Repeat("A", 70167211) + `"}}`, 413,
			"RequestEntityTooLargeException",
			`{"message":"Request must be smaller than 70167211 bytes for the CreateFunction operation"}`},
		{"POST", functions, create + `"ZipFile":"` + zipped + `"}}`, 413, "RequestEntityTooLargeException",
			`{"message":"Zipped size must be smaller than 52428800 bytes"}`},
		{"POST", layersPath + "/l/versions", `{"Content":{"ZipFile":"` + zipped + `"}}`, 413,
			"RequestEntityTooLargeException", `{"message":"Zipped size must be smaller than 52428800 bytes"}`},
		{"POST", functions, create + `"S3Bucket":"bucket","S3Key":"key"}}`, 400, "InvalidParameterValueException",
			"Unzipped size must be smaller than 262144000 bytes"},
		{"POST", functions, create + `"ZipFile":"AA=="},"Environment":{"Variables":{"A":"` + strings.Repeat("x", 4096) +
			`"}}}`, 400, "InvalidParameterValueException", "exceeded the 4KB limit. As JSON they have 4104 bytes"},
	} {
		g := r.call(c.method, c.path, c.body)
		if g.StatusCode != c.status || g.Header.Get("X-Amzn-Errortype") != c.kind || !strings.Contains(g.text, c.text) {
			t.Errorf("%s %.60s: %s %s %s, not %s", c.path, c.body, g.Status, g.Header.Get("X-Amzn-Errortype"), g.text,
				c.text)
		}
	}
}
