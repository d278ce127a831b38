package queue

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// kept is all that a page has to keep of a message.
type kept struct {
	addr     journal.Address
	at       int64
	size     int64
	durable  uint32
	attempts uint32
	expire   int64
	head     string
	shared   *sharedBody
	extra    extra
}

func keptOf(e entry) kept {
	return kept{e.addr(), e.at(), e.size(), e.durable(), e.attempts(), e.expire(), string(e.head()), e.shared(),
		*e.extra()}
}

// TestPagesKeepMessagesAsTheyAre compares pages with a map through everything that can be done to them.
func TestPagesKeepMessagesAsTheyAre(t *testing.T) {
	cases(t, 100, 10)
	rapid.Check(t, func(t *rapid.T) {
		m := messages{saves: &saves{}}
		want := map[uint64]kept{}
		heads := map[uint64][]byte{} // handed out, and to stay as they are
		next := uint64(rapid.SampledFrom([]int{1, 250, 1 << 40}).Draw(t, "first"))
		add := func(t *rapid.T, seq uint64) {
			a := arrival{
				row: row{position: journal.Position(rapid.Uint64().Draw(t, "position")),
					index: rapid.Uint32().Draw(t, "index"), at: rapid.Int64().Draw(t, "at"),
					size: rapid.Uint32().Draw(t, "size"), durable: rapid.Uint32().Draw(t, "durable")},
				head: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "head"),
			}
			if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
				a.shared = &sharedBody{addr: journal.Address{Position: 7}, head: a.head}
			}
			if rapid.IntRange(0, 3).Draw(t, "expires") == 0 {
				a.expire = rapid.Int64Range(1, 1<<50).Draw(t, "expire")
			}
			e := m.Add(seq, &a)
			want[seq] = kept{journal.Address{Position: a.row.position, Index: a.row.index}, a.row.at, int64(a.row.size),
				a.row.durable, 0, a.expire, string(a.head), a.shared, extra{}}
			heads[seq] = e.head()
		}
		some := func(t *rapid.T) (entry, uint64) {
			if len(want) == 0 {
				t.Skip()
			}
			seq := rapid.SampledFrom(slices.Sorted(maps.Keys(want))).Draw(t, "seq")
			e, ok := m.Get(seq)
			if !ok || !e.there() || e.seq() != seq {
				t.Fatalf("message %d is not found", seq)
			}
			return e, seq
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 3, 100, 300}).Draw(t, "n") {
					next += uint64(rapid.SampledFrom([]int{1, 1, 1, 2, 40}).Draw(t, "gap"))
					add(t, next)
				}
			},
			"add before others": func(t *rapid.T) {
				seq := next - uint64(rapid.IntRange(0, 300).Draw(t, "back"))
				if _, there := want[seq]; !there && seq > 0 && seq <= next {
					add(t, seq)
				}
			},
			"delete": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 50}).Draw(t, "n") {
					e, seq := some(t)
					m.Delete(e)
					delete(want, seq)
					if e.there() {
						t.Fatalf("message %d is there after it was deleted", seq)
					}
				}
			},
			"delete a page": func(t *rapid.T) {
				e, _ := some(t)
				m.DeletePage(e.page)
				maps.DeleteFunc(want, func(seq uint64, _ kept) bool { return pageOf(seq) == e.page.number })
			},
			"attempts": func(t *rapid.T) {
				e, seq := some(t)
				k := want[seq]
				k.attempts = rapid.Uint32Range(0, 2).Draw(t, "attempts")
				e.setAttempts(k.attempts)
				want[seq] = k
			},
			"extra": func(t *rapid.T) {
				e, seq := some(t)
				k := want[seq]
				switch rapid.IntRange(0, 3).Draw(t, "what") {
				case 0:
					k.extra.claim = nil
					if serial := rapid.Uint32Range(0, 1).Draw(t, "claim"); serial == 0 {
						e.dropClaim()
					} else if e.setClaim(claimState{serial: serial}); e.claim() != nil && e.claim().serial == serial {
						k.extra.claim = e.claim()
					} else {
						t.Fatal("it is not claimed")
					}
				case 1:
					k.extra.wake = rapid.Int64Range(0, 2).Draw(t, "wake")
					k.extra.retry = rapid.Bool().Draw(t, "retry")
					e.setWake(k.extra.wake, k.extra.retry)
				case 2:
					k.extra.alarm = rapid.Int64Range(0, 2).Draw(t, "alarm")
					e.setAlarm(k.extra.alarm)
				case 3:
					k.extra.group = rapid.SampledFrom([]*keyGroup{nil, {key: "k"}}).Draw(t, "group")
					e.setGroup(k.extra.group)
				}
				want[seq] = k
			},
			"": func(t *rapid.T) {
				if m.Len() != len(want) {
					t.Fatalf("%d messages, want %d", m.Len(), len(want))
				}
				var seqs []uint64
				m.Scan(func(e entry) bool {
					seqs = append(seqs, e.seq())
					if got := keptOf(e); got != want[e.seq()] {
						t.Fatalf("message %d is %+v, was %+v", e.seq(), got, want[e.seq()])
					}
					return true
				})
				if sorted := slices.Sorted(maps.Keys(want)); !slices.Equal(seqs, sorted) {
					t.Fatalf("there are %v, want %v", seqs, sorted)
				}
				for seq, head := range heads {
					if k, there := want[seq]; there && string(head) != k.head {
						t.Fatalf("the head of %d changed after it was handed out", seq)
					}
				}
			},
		})
	})
}

// TestRemovedMessagesGiveTheirMemoryBack checks that a page shrinks with its messages and goes with the last.
func TestRemovedMessagesGiveTheirMemoryBack(t *testing.T) {
	m := messages{}
	for seq := range uint64(10 * pageSize) {
		m.Add(seq, &arrival{head: []byte("some head")})
	}
	for seq := range uint64(10 * pageSize) {
		if seq%pageSize != 3 || seq > 5*pageSize {
			e, _ := m.Get(seq)
			m.Delete(e)
		}
	}
	if m.pages.Len() != 5 {
		t.Errorf("%d pages are left for messages in 5", m.pages.Len())
	}
	m.pages.Scan(func(_ uint64, p *page) bool {
		if len(p.rows) > 2 || cap(p.heads) > 64 {
			t.Errorf("a page with one message has room for %d rows and %d bytes of heads", len(p.rows), cap(p.heads))
		}
		return true
	})
}

// TestACheckpointIsOfTheMomentItBegan takes checkpoints while messages are put, claimed, put back, settled and purged,
// and compares what they restore with the state at their beginning.
func TestACheckpointIsOfTheMomentItBegan(t *testing.T) {
	for seed := range uint64(amount(40, 40, 2)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			s := newState()
			position := journal.Position(0)
			do := func(events ...event) {
				position++
				var group []applied
				for i, e := range events {
					group = append(group, applied{at: s.now, event: e,
						addr: journal.Address{Position: position, Index: uint32(i)}})
				}
				if err := s.apply(group, 0); err != nil {
					t.Fatal(err)
				}
				s.takeReleased()
			}
			for id := range uint32(3) {
				n := Name{DefaultNamespace, fmt.Sprint("q", id+1)}
				do(&queueDefined{queue: id + 1, name: n, def: Definition{}.normal(n)})
			}
			step := func() {
				s.now += int64(r.IntN(1000))
				q := s.queues[1+r.Uint32N(3)]
				seq := uint64(0)
				if q.all.Len() > 0 {
					q.all.Ascend(r.Uint64N(q.next), func(e entry) bool {
						seq = e.seq()
						return false
					})
				}
				switch r.IntN(12) {
				case 0, 1, 2, 3:
					m := message.Message{ID: message.NewID(), Dedup: fmt.Sprint(r.IntN(1000))}
					if r.IntN(3) == 0 {
						m.Key = fmt.Sprint(r.IntN(9))
					}
					ev := &put{queue: q.id, seq: q.next, size: 1, head: appendHead(nil, &m), dedup: s.now + 5000}
					if r.IntN(4) == 0 {
						ev.wake = s.now + 2000
					}
					if r.IntN(4) == 0 {
						ev.expire = s.now + 900_000
					}
					ev.origin = message.Origin{Source: "source", Offset: q.next}
					do(ev)
				case 4, 5, 6:
					do(&claimed{queue: q.id, seq: seq, attempt: 1 + r.Uint32N(3), epoch: 1, serial: r.Uint32(),
						deadline: s.now + 1000})
				case 7:
					do(&settled{queue: q.id, seq: seq, end: endBack, wake: s.now + int64(r.IntN(2))*1000})
				case 8:
					do(&settled{queue: q.id, seq: seq, end: endDone})
				case 9:
					do(&extended{queue: q.id, seq: seq, deadline: s.now + 3000})
				case 10:
					s.tick(10)
					s.lapsed = nil
				case 11:
					if r.IntN(20) == 0 {
						do(&purged{queue: q.id, frontier: q.next})
					}
				}
			}
			for range 4000 {
				step()
			}
			for range 3 {
				want := portrait(s)
				var b bytes.Buffer
				sn := s.beginSnapshot()
				_, err := sn.writeTo(&b, func(look func()) { // the state changes whenever the lock is let go
					for range r.IntN(300) {
						step()
					}
					look()
				})
				if err != nil {
					t.Fatal(err)
				}
				if left := len(s.saves.pages); left != 0 {
					t.Errorf("%d copies of pages were kept and not written", left)
				}
				sn.end()
				fresh := newState()
				fresh.folding = true
				if err := fresh.restore(bufio.NewReader(&b), map[journal.Address]*sharedBody{}); err != nil {
					t.Fatal(err)
				}
				if got := portrait(fresh); got != want {
					t.Fatalf("the checkpoint restores\n%s\nit began at\n%s", got, want)
				}
			}
		})
	}
}
