package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// receipted is a receipt as its reader sees it.
type receipted struct {
	ID            string
	Outcome       string
	PushID        string    `json:"push_id"`
	AcceptedAt    time.Time `json:"accepted_at"`
	DurableAt     time.Time `json:"durable_at"`
	ClaimedAt     time.Time `json:"claimed_at"`
	TransformedAt time.Time `json:"transformed_at"`
	SentAt        time.Time `json:"sent_at"`
	AnsweredAt    time.Time `json:"answered_at"`
}

// receipts waits for n receipts on the queue receipts, and returns them in their order.
func (s *served) receipts(t *testing.T, n int) []receipted {
	t.Helper()
	var lines []string
	pushtest.Eventually(t, func() bool {
		r := s.do(t, "", "queue", "peek", "receipts", "--max", strconv.Itoa(n+1))
		lines = slices.Collect(strings.Lines(r.stdout))
		return len(lines) >= n
	})
	if len(lines) > n {
		t.Errorf("more than %d receipts", n)
	}
	all := make([]receipted, len(lines))
	for i, line := range lines {
		var m struct{ Body string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(m.Body), &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestAReceiptHasItsMessagesIDAndAllSixTimesInOrder, over a queue on a disk, a transform and a far end.
func TestAReceiptHasItsMessagesIDAndAllSixTimesInOrder(t *testing.T) {
	dir := t.TempDir()
	far := sandboxHere(t, dir, "apns")
	config := strings.ReplaceAll(pushing(far), "feedback: gone", "receipts: receipts")
	config = strings.ReplaceAll(config, "inputs: outbox", "inputs: shape")
	s := serveHere(t, dir, config+"transforms:\n  shape: { type: jq, inputs: outbox, program: '{aps: {alert: .}}' }\n")
	before, ids := time.Now().Truncate(time.Microsecond), map[string]bool{}
	for range 3 {
		id := message.NewID().String()
		ids[id] = true
		to := s.url + "/default/queues/outbox/messages?attribute=token=" + strings.Repeat("a1", 32) + "&id=" + id
		answer, err := http.Post(to, "text/plain", strings.NewReader(`"hello"`))
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode >= 300 {
			t.Fatalf("put: %s", answer.Status)
		}
	}
	for _, r := range s.receipts(t, len(ids)) {
		if !ids[r.ID] || r.Outcome != "delivered" || r.PushID != r.ID { // Apple takes the message's id for the apns-id
			t.Errorf("of %v: %+v", ids, r)
		}
		delete(ids, r.ID)
		last := before
		for i, at := range []time.Time{
			r.AcceptedAt, r.DurableAt, r.ClaimedAt, r.TransformedAt, r.SentAt, r.AnsweredAt, time.Now(),
		} {
			if at.Before(last) {
				t.Errorf("time %d, %v, is before %v: %+v", i, at, last, r)
			}
			last = at
		}
	}
}
