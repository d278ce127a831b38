package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
)

// A record is what one replica holds at one sequence.
type record struct {
	number uint64 // which of our records it is; each is published once
	meant  uint64 // the sequence it was published for
	sum    [sha256.Size]byte
	whole  bool // its own checksum is right
}

// A ledger remembers what was published and what was acknowledged.
type ledger struct {
	mu    sync.Mutex
	tried map[uint64]uint64 // number → the sequence that it was meant for
	acked map[uint64]uint64 // sequence → number; also what a check has read, for who has read it has acted on it
	acks  int               // acknowledgements received
	wrong []string          // acknowledgements that contradict each other, not yet told
}

func newLedger() *ledger {
	return &ledger{tried: map[uint64]uint64{}, acked: map[uint64]uint64{}}
}

// A tally counts what broke a promise.
type tally struct {
	lost     int // acknowledged, and not (or not as it was) in what the leader has
	doubled  int // in the stream twice, or two records acknowledged for one sequence
	diverged int // sequences at which two replicas hold different things
	altered  int // in the stream with other contents or at another sequence than it was published
	stuck    int // nothing was acknowledged a minute after everything was healed
	behind   int // records were, but a replica was not as long as the others, or could not be read
	notes    []string
}

func (t *tally) add(o tally) {
	t.lost, t.doubled, t.diverged = t.lost+o.lost, t.doubled+o.doubled, t.diverged+o.diverged
	t.altered, t.stuck, t.behind = t.altered+o.altered, t.stuck+o.stuck, t.behind+o.behind
	t.notes = append(t.notes, o.notes...)
}

func (t *tally) clean() bool { return t.lost+t.doubled+t.diverged+t.altered+t.stuck+t.behind == 0 }

// note keeps the first few of what happened; the counts have all.
func (t *tally) note(format string, args ...any) {
	if len(t.notes) < 20 {
		t.notes = append(t.notes, fmt.Sprintf(format, args...))
	}
}

var largest uint64 = 1536

// contents makes the body of a record: its number, the sequence it is meant for, bytes that follow from both, and a
// checksum of all. It has 64 bytes and up to largest more.
func contents(number, seq uint64) []byte {
	b := make([]byte, 64+number*2654435761%largest)
	binary.LittleEndian.PutUint64(b, number)
	binary.LittleEndian.PutUint64(b[8:], seq)
	x := number<<20 ^ seq | 1
	for i := 16; i < len(b)-sha256.Size; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	sum := sha256.Sum256(b[:len(b)-sha256.Size])
	copy(b[len(b)-sha256.Size:], sum[:])
	return b
}

func parse(b []byte) record {
	r := record{sum: sha256.Sum256(b)}
	if len(b) < 64 {
		return r
	}
	r.number, r.meant = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	r.whole = sha256.Sum256(b[:len(b)-sha256.Size]) == [sha256.Size]byte(b[len(b)-sha256.Size:])
	return r
}

func (l *ledger) try(number, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried[number] = seq
}

// ack notes that a record was acknowledged with a sequence.
func (l *ledger) ack(number, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acks++
	if other, is := l.acked[seq]; is && other != number {
		l.wrong = append(l.wrong, fmt.Sprintf("sequence %d was acknowledged for records %d and %d", seq, other, number))
	} else if l.tried[number] != seq {
		l.wrong = append(l.wrong, fmt.Sprintf("record %d, meant for sequence %d, was acknowledged with %d",
			number, l.tried[number], seq))
	}
	l.acked[seq] = number
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acks
}

// check compares what replicas hold with what was acknowledged. What the leader holds has to be there from now on. With
// no leader ("") a record is lost when no replica has it.
func (l *ledger) check(leader string, replicas map[string]map[uint64]record) (t tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.wrong {
		t.doubled++
		t.note("%s", w)
	}
	l.wrong = nil
	all := map[uint64]bool{}
	for name, held := range replicas {
		seen := map[uint64]uint64{}
		for seq, r := range held {
			all[seq] = true
			if tried, is := l.tried[r.number]; !r.whole || !is || tried != seq || r.meant != seq {
				t.altered++
				t.note("%s holds at %d record %d meant for %d, whole %t, published for %d", name, seq, r.number,
					r.meant, r.whole, tried)
			}
			if before, twice := seen[r.number]; twice {
				t.doubled++
				t.note("%s holds record %d at %d and at %d", name, r.number, before, seq)
			}
			seen[r.number] = seq
		}
	}
	for seq := range all {
		var one *record
		for name, held := range replicas {
			r, is := held[seq]
			if one == nil && is {
				one = &r
			}
			if !is || r.sum != one.sum {
				t.diverged++
				if t.diverged <= 3 {
					t.note("replicas differ at %d: %s has one %t", seq, name, is)
				}
				break
			}
		}
	}
	for seq, number := range l.acked {
		found := false
		for name, held := range replicas {
			if r, is := held[seq]; (leader == "" || leader == name) && is && r.number == number {
				found = true
			}
		}
		if !found {
			t.lost++
			t.note("record %d, acknowledged with %d, is lost (leader %q)", number, seq, leader)
			delete(l.acked, seq) // told once
		}
	}
	for seq, r := range replicas[leader] {
		l.acked[seq] = r.number
	}
	return t
}
