package http_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// TestAPackedBodyIsNotUnpacked: it is a message as it is, and as JSON it is refused, so that nothing becomes larger
// than it was counted.
func TestAPackedBodyIsNotUnpacked(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	bomb := doortest.Packed(t, `{"messages": [{"body": "`+strings.Repeat("x", 10<<20)+`"}]}`)
	r.want(400, "POST", "/default/queues/q/messages", bomb, "Content-Encoding", "gzip")
	r.want(200, "POST", "/default/queues/q/messages", bomb, "Content-Encoding", "gzip", "Content-Type",
		"application/octet-stream")
	got := r.want(200, "POST", "/default/queues/q/claim", `{}`)
	if want := base64.StdEncoding.EncodeToString([]byte(bomb)); !strings.Contains(string(got.body), want) {
		t.Errorf("%.100s…", got.body)
	}
}
