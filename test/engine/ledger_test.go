package main

import (
	"maps"
	"testing"
)

// filled is a ledger of five acknowledged records, and three replicas that hold them.
func filled() (*ledger, map[string]map[uint64]record) {
	l, held := newLedger(), map[uint64]record{}
	for seq := uint64(1); seq <= 5; seq++ {
		l.try(100+seq, seq)
		l.ack(100+seq, seq)
		held[seq] = parse(contents(100+seq, seq))
	}
	return l, map[string]map[uint64]record{"n1": held, "n2": maps.Clone(held), "n3": maps.Clone(held)}
}

func TestTheLedgerFindsWhatItIsFed(t *testing.T) {
	everywhere := func(r map[string]map[uint64]record, change func(map[uint64]record)) {
		for _, held := range r {
			change(held)
		}
	}
	for _, c := range []struct {
		name   string
		damage func(l *ledger, r map[string]map[uint64]record)
		want   tally
	}{
		{"nothing", func(*ledger, map[string]map[uint64]record) {}, tally{}},
		{"a loss at the end", func(_ *ledger, r map[string]map[uint64]record) {
			everywhere(r, func(h map[uint64]record) { delete(h, 5) })
		}, tally{lost: 1}},
		{"a loss of all", func(_ *ledger, r map[string]map[uint64]record) {
			everywhere(r, func(h map[uint64]record) { clear(h) })
		}, tally{lost: 5}},
		{"another record in its place", func(l *ledger, r map[string]map[uint64]record) {
			l.try(900, 5)
			everywhere(r, func(h map[uint64]record) { h[5] = parse(contents(900, 5)) })
		}, tally{lost: 1}},
		{"a record twice", func(l *ledger, r map[string]map[uint64]record) {
			everywhere(r, func(h map[uint64]record) { h[6] = h[5] })
		}, tally{doubled: 3, altered: 3}},
		{"a flipped bit on one replica", func(l *ledger, r map[string]map[uint64]record) {
			b := contents(102, 2)
			b[20] ^= 1
			r["n2"][2] = parse(b)
		}, tally{altered: 1, diverged: 1}},
		{"a hole on one replica", func(l *ledger, r map[string]map[uint64]record) { delete(r["n3"], 1) },
			tally{diverged: 1}},
		{"a record that nobody published", func(l *ledger, r map[string]map[uint64]record) {
			everywhere(r, func(h map[uint64]record) { h[6] = parse(contents(77, 6)) })
		}, tally{altered: 3}},
		{"a sequence for two", func(l *ledger, r map[string]map[uint64]record) {
			l.try(900, 6)
			l.try(901, 6)
			l.ack(900, 6)
			l.ack(901, 6)
			everywhere(r, func(h map[uint64]record) { h[6] = parse(contents(901, 6)) })
		}, tally{doubled: 1}},
		{"an answer that is not there", func(l *ledger, r map[string]map[uint64]record) {
			l.try(900, 6)
			everywhere(r, func(h map[uint64]record) { h[6] = parse(contents(900, 6)) })
		}, tally{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, replicas := filled()
			c.damage(l, replicas)
			got := l.check("n1", replicas)
			got.notes = nil
			if got.lost != c.want.lost || got.doubled != c.want.doubled || got.diverged != c.want.diverged ||
				got.altered != c.want.altered {
				t.Errorf("found %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestWhatWasReadHasToStay(t *testing.T) {
	l, replicas := filled()
	l.try(900, 6)
	for _, held := range replicas {
		held[6] = parse(contents(900, 6))
	}
	if got := l.check("n1", replicas); !got.clean() {
		t.Fatalf("a record whose answer is unknown: %+v", got)
	}
	for _, held := range replicas {
		delete(held, 6)
	}
	if got := l.check("n1", replicas); got.lost != 1 {
		t.Errorf("a record that was read is gone: %+v", got)
	}
}
