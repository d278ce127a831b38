package queue

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/message"
)

// manyOfKey is more than goes back in one piece.
const manyOfKey = 3*shedPiece + 17

func messagesOfKey(key string, n int) []message.Message {
	ms := countedUp(0, n)
	for i := range ms {
		ms[i].Key = key
	}
	return ms
}

// holdMany lets a reader take all of the many messages of a key.
func holdMany(t *testing.T, s *Store, r ClaimRequest) (cs []Claim) {
	t.Helper()
	r.From, r.Max = from(news), 1000
	for len(cs) < manyOfKey {
		cs = append(cs, mustClaim(t, s, r)...)
	}
	return cs
}

// wantAttempts sees that all of the many are there again, in their order, the first after one attempt and the others
// after so many.
func wantAttempts(t *testing.T, s *Store, others int) {
	t.Helper()
	o := s.NewOwner("second")
	defer o.Close()
	for i, c := range holdMany(t, s, ClaimRequest{Owner: o}) {
		want := others + 1
		if i == 0 {
			want = 2
		}
		if c.Sequence != uint64(i+1) || c.Attempt != want {
			t.Fatalf("message %d is number %d at attempt %d, want attempt %d", i+1, c.Sequence, c.Attempt, want)
		}
	}
}

// TestManyOfAKeyGoBackInTheirOrder puts back what is too much for one step: whatever ends the hold, all are there again
// in their order, and only the hand-out of the first counts where the others went back with it.
func TestManyOfAKeyGoBackInTheirOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		lease  time.Duration
		others int // attempts that count
		end    func(t *testing.T, s *Store, o Owner, cs []Claim)
	}{
		"the first is put back": {others: 0, end: func(t *testing.T, s *Store, o Owner, cs []Claim) {
			settle(t, s, Settlement{Token: cs[0].Token, Kind: Back})
			o.Close()
		}},
		"all are put back, the last first": {others: 1, end: func(t *testing.T, s *Store, _ Owner, cs []Claim) {
			var back []Settlement
			for _, c := range slices.Backward(cs) {
				back = append(back, Settlement{Token: c.Token, Kind: Back})
			}
			settle(t, s, back...)
		}},
		"the owner is closed": {others: 1, end: func(_ *testing.T, _ *Store, o Owner, _ []Claim) { o.Close() }},
		"the leases end": {lease: time.Minute, others: 0, end: func(*testing.T, *Store, Owner, []Claim) {
			time.Sleep(time.Minute + time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := open(t, newMemory())
				mustPut(t, s, news, messagesOfKey("k", manyOfKey)...)
				o := s.NewOwner("first")
				defer o.Close()
				tt.end(t, s, o, holdMany(t, s, ClaimRequest{Owner: o, Lease: tt.lease}))
				wantAttempts(t, s, tt.others)
			})
		})
	}
}

// TestSequenceSetIsASet compares sets, small and large ones, with the plain thing.
func TestSequenceSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sequenceSet
		plain := map[uint64]bool{}
		most := rapid.SampledFrom([]uint64{5, 100, 5000}).Draw(t, "most")
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			seq := rapid.Uint64Range(0, most).Draw(t, "sequence")
			if rapid.Bool().Draw(t, "add") {
				if s.Add(seq) == plain[seq] {
					t.Fatalf("%d was added, or was there", seq)
				}
				plain[seq] = true
			} else if s.Delete(seq) != plain[seq] {
				t.Fatalf("%d was deleted, or was not there", seq)
			} else {
				delete(plain, seq)
			}
		}
		var up, down, want []uint64
		for seq := range plain {
			want = append(want, seq)
		}
		slices.Sort(want)
		s.Ascend(func(seq uint64) bool { up = append(up, seq); return true })
		from := rapid.Uint64Range(0, most).Draw(t, "from")
		s.Descend(from, func(seq uint64) bool { down = append(down, seq); return true })
		if s.Len() != len(want) || !slices.Equal(up, want) {
			t.Fatalf("the set has %v, want %v", up, want)
		}
		if least, ok := s.Min(); ok != (len(want) > 0) || ok && least != want[0] {
			t.Fatalf("the least is %d, %v, of %v", least, ok, want)
		}
		want = slices.DeleteFunc(want, func(seq uint64) bool { return seq > from })
		if slices.Reverse(down); !slices.Equal(down, want) {
			t.Fatalf("from %d down there are %v, want %v", from, down, want)
		}
	})
}
