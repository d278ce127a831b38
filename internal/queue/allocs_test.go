package queue

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

// TestTheUsualCallsMakeFewAllocations counts what the calls allocate that are made for every message, with the journal
// in memory and its goroutine: one more in each shows in how many messages a second there can be.
func TestTheUsualCallsMakeFewAllocations(t *testing.T) {
	withoutDetector(t)
	msgs := []message.Message{{ID: message.NewID(), Body: []byte("small")}}
	for name, c := range map[string]struct {
		most float64
		do   func(t *testing.T, s *Store)
	}{
		"a put": {11, func(t *testing.T, s *Store) { mustPut(t, s, news, msgs...) }},
		"a put, a claim and a settlement": {54, func(t *testing.T, s *Store) {
			mustPut(t, s, news, msgs...)
			cs := mustClaim(t, s, ClaimRequest{From: from(news), Max: 1})
			settle(t, s, Settlement{Token: cs[0].Token})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, newMemory())
			c.do(t, s)
			if n := testing.AllocsPerRun(2000, func() { c.do(t, s) }); n > c.most {
				t.Errorf("%v allocations, want at most %v", n, c.most)
			}
		})
	}
}

// TestReadingARecordMakesNoText: a start reads a million of them, and only of one that makes no sense is there
// something to say.
func TestReadingARecordMakesNoText(t *testing.T) {
	withoutDetector(t)
	head := encodeEvent(nil, 1, &settled{queue: 300, seq: 300, end: endDone})
	n := testing.AllocsPerRun(100, func() {
		if _, _, err := decodeEvent(head); err != nil {
			t.Fatal(err)
		}
	})
	if n > 2 {
		t.Errorf("%v allocations, and two are what is read and what it is read with", n)
	}
}
