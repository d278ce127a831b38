package cluster

import (
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// cameOut are messages as a claim hands them out.
func cameOut(msgs ...httpdoor.Message) (claims []httpdoor.Claimed) {
	for _, m := range msgs {
		var c httpdoor.Claimed
		c.Body, c.BodyBase64 = m.Body, m.BodyBase64
		claims = append(claims, c)
	}
	return claims
}

func TestAMessageThatWasAcknowledgedAndIsMissingIsAnError(t *testing.T) {
	s := &session{Session: harness.New("cluster", harness.Options{}, view())}
	first, msgs := s.book.fresh(11)
	s.book.ack(first, 10) // nothing is promised of the last
	for _, m := range [][]httpdoor.Message{msgs[:5], msgs[3:9]} {
		if err := s.book.take(cameOut(m...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.account(); err == nil || !strings.Contains(err.Error(), "1 of 10 ") || len(s.Report.Rows) > 0 {
		t.Errorf("one is missing: %v", err)
	}
	if err := s.book.take(cameOut(msgs[9])); err != nil {
		t.Fatal(err)
	}
	if err := s.account(); err != nil || len(s.Report.Rows) != 1 {
		t.Fatalf("nothing is missing: %v", err)
	}
	for name, want := range map[string]int{"acknowledged": 10, "taken": 10, "again": 2, "missing": 0} {
		if got := s.Report.Rows[0].Get(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestAMessageThatNobodyHasPutIsAnError(t *testing.T) {
	var book ledger
	_, msgs := book.fresh(1)
	if err := book.take(cameOut(httpdoor.NewMessage([]byte("altered")))); err == nil {
		t.Error("a message came that is not as it was put")
	}
	var other ledger
	if err := other.take(cameOut(msgs...)); err == nil {
		t.Error("a message came that nobody has put")
	}
}
