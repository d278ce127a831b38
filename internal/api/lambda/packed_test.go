package lambda

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// TestAPackedRequestIsNotUnpacked: it is refused, so that nothing becomes larger than it was counted.
func TestAPackedRequestIsNotUnpacked(t *testing.T) {
	r := newRig(t)
	bomb := doortest.Packed(t, `{"FunctionName": "`+strings.Repeat("x", 10<<20)+`"}`)
	if got := r.call("POST", functions, bomb, "Content-Encoding", "gzip"); got.StatusCode != http.StatusBadRequest {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}
