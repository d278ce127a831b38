package sqs

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// TestAPackedRequestIsNotUnpacked: it is refused, so that nothing becomes larger than it was counted.
func TestAPackedRequestIsNotUnpacked(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	bomb := doortest.Packed(t, `{"QueueUrl": "`+url+`", "MessageBody": "`+strings.Repeat("x", 10<<20)+`"}`)
	for _, kind := range []string{"application/x-amz-json-1.0", "application/x-www-form-urlencoded"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base, strings.NewReader(bomb))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Content-Encoding", "gzip")
		req.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
		if status, out := r.do(req); status != http.StatusBadRequest {
			t.Errorf("%s: %d %v", kind, status, out)
		}
	}
	if got := r.receive(url, 1); len(got) != 0 {
		t.Error("there is a message")
	}
}
