package raft

import (
	"io"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func TestAnOlderCheckpointDoesNotTakeThePlaceOfANewerOne(t *testing.T) {
	c, _ := inMemories(t, 1)
	c.live = liveOf
	r := c.start(1)
	clerk := ownNow(t, c)
	var saved []uint64
	for n := range uint64(3) {
		for range 3 {
			if _, err := clerk.append(journal.Record{Life: journal.Passing}); err != nil {
				t.Fatal(err)
			}
		}
		if err := clerk.put(n + 1); err != nil {
			t.Fatal(err)
		}
		if err := clerk.save(t.Context()); err != nil {
			t.Fatal(err)
		}
		saved = append(saved, uint64(clerk.j.End()))
		for range 3 {
			if _, err := clerk.append(journal.Record{Life: journal.Passing}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// As of an owner before, that comes late.
	if err := r.keep(t.Context(), saved[1], func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if at := r.log.checkpoint(); at != saved[2] {
		t.Errorf("the newest checkpoint is at %d and was at %d", at, saved[2])
	}
	c.stop(1)
	c.start(1)
	if clerk = ownNow(t, c); len(clerk.waits) != 3 {
		t.Errorf("%d messages of 3 are there", len(clerk.waits))
	}
}
