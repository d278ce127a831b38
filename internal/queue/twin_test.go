package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

func sortedNames[T any](m map[Name]T) []Name { return slices.SortedFunc(maps.Keys(m), compareNames) }

// portrait is everything that a restart must find again. Claims of owners end with the process, so they count as gone
// back.
func portrait(s *state) string {
	var b strings.Builder
	for _, q := range s.queues {
		q.prune() // of layouts that no message has, a restart may find some that were forgotten by the way
	}
	fmt.Fprintf(&b, "messages %d bytes %d, in memory %d\n", s.messages, s.bytes, s.resident)
	for _, n := range sortedNames(s.topicNames) {
		t := s.topicNames[n]
		fmt.Fprintf(&b, "topic %s published %d to", n.Short(), t.published)
		for _, q := range t.subscribed.all.Values() {
			fmt.Fprintf(&b, " %s", q.name.Short())
		}
		b.WriteString("\n")
	}
	for _, n := range s.notes.Items() {
		fmt.Fprintf(&b, "note %s %s: %q\n", n.Room, n.Key, n.Value)
	}
	for what, listed := range map[string][2][]Name{
		"queues": {s.queueList.Items(), sortedNames(s.queueNames)},
		"topics": {s.topicList.Items(), sortedNames(s.topicNames)},
	} {
		if !slices.Equal(listed[0], listed[1]) {
			fmt.Fprintf(&b, "%s are listed as %v\n", what, listed[0])
		}
	}
	if !slices.EqualFunc(s.snapshotList.Items(), sortedNames(s.snapshots),
		func(sn *snapshotState, n Name) bool { return sn == s.snapshots[n] }) {
		b.WriteString("the list of snapshots differs\n")
	}
	for _, n := range sortedNames(s.snapshots) {
		sn := s.snapshots[n]
		fmt.Fprintf(&b, "snapshot %s of %s at %d until %d: %v and from %d on\n", n.Short(), sn.queue.name.Short(),
			sn.at, sn.expire, sn.before.all(), sn.frontier)
	}
	for _, n := range sortedNames(s.queueNames) {
		q := s.queueNames[n]
		fmt.Fprintf(&b, "%s, once %v, dead letters to %s\n", n, q.former, q.def.DeadLetter)
		for _, was := range q.former {
			if s.former[was] != q || s.queueNames[was] != nil {
				fmt.Fprintf(&b, "  which is not found by %s\n", was)
			}
		}
		fmt.Fprintf(&b, "%s topic %q bytes %d put %d done %d dead %d expired %d purged %d claims %d\n", n.Short(),
			q.def.Topic, q.bytes,
			q.put, q.done, q.dead, q.expired, q.purged, q.claims)
		q.all.Scan(func(e entry) bool {
			fmt.Fprintf(&b, "  %d at %v attempts %d", e.seq(), e.addr(), e.attempts())
			if row, large, err := decodeRow(e.head()); row != nil || err != nil {
				fmt.Fprintf(&b, " row %v large %v (%v)", q.layoutOf(e.seq()).shape(row), large, err)
			}
			if e.wake() > s.now {
				fmt.Fprintf(&b, " sleeps until %d, put back: %v", e.wake(), e.retry())
			}
			if c := e.claim(); c != nil && !c.owned && !c.doomed() {
				fmt.Fprintf(&b, " claim %d of %d until %d", c.serial, c.epoch, c.deadline)
			}
			if body := e.shared(); body != nil {
				fmt.Fprintf(&b, " shares %v with %d", body.addr, body.refs)
			}
			b.WriteString("\n")
			return true
		})
		for p := range q.all.pagesFrom(0) {
			for slot := p.past.next(0); slot < pageSize; slot = p.past.next(slot + 1) {
				e := entry{p, uint8(slot)}
				row, _, _ := decodeRow(e.head())
				fmt.Fprintf(&b, "  past: %d at %v %v", e.seq(), e.addr(), q.layoutOf(e.seq()).shape(row))
				if body := e.shared(); body != nil {
					fmt.Fprintf(&b, " shares %v with %d", body.addr, body.refs)
				}
				b.WriteString("\n")
			}
		}
		fmt.Fprintf(&b, "  past: %d of %d bytes\n", q.all.past, q.pastBytes)
		for _, id := range slices.Sorted(maps.Keys(q.dedup)) {
			if r := q.dedup[id]; r.until > s.now {
				fmt.Fprintf(&b, "  knows %s as %d until %d\n", id, r.seq, r.until)
			}
		}
		for _, source := range q.origins.Keys() {
			o, _ := q.origins.Get(source)
			fmt.Fprintf(&b, "  took from %s: below %d,", source, o.mark)
			o.above(func(p originPlace) { fmt.Fprintf(&b, " %v", p) })
			b.WriteString("\n")
		}
	}
	return b.String()
}

// claimability is what could be claimed: what is ready, and of each key its members and the one that is next. Queues in
// which an owner holds something now are left out: a restart puts it back.
func claimability(s, now *state) string {
	var b strings.Builder
	for _, n := range sortedNames(s.queueNames) {
		q := s.queueNames[n]
		owned := false
		now.queueNames[n].all.Scan(func(e entry) bool {
			owned = e.claim() != nil && e.claim().owned
			return !owned
		})
		if owned {
			continue
		}
		fmt.Fprintf(&b, "%s: ready %v\n", n.Short(), q.ready.all())
		for _, key := range slices.Sorted(maps.Keys(q.keys)) {
			g := q.keys[key]
			fmt.Fprintf(&b, "  key %s: %d", key, g.members)
			if g.head != none {
				fmt.Fprintf(&b, ", next %d", g.head.seq())
			}
			g.open.Ascend(func(seq uint64) bool {
				fmt.Fprintf(&b, ", %d", seq)
				if e, there := q.all.Get(seq); !there || e.group() != g || e.claim() != nil {
					b.WriteString(", which does not know")
				}
				return true
			})
			b.WriteString("\n")
		}
	}
	return b.String()
}

// unreleased are the lasting records of m that were not released.
func unreleased(m *memory) map[journal.Address]bool {
	there := map[journal.Address]bool{}
	for _, g := range m.Groups() {
		for i, r := range g.Records {
			if a := (journal.Address{Position: g.Position, Index: uint32(i)}); r.Life == journal.Lasting &&
				!m.Released(a) {
				there[a] = true
			}
		}
	}
	return there
}

// folded is the state that a start would make of m, with its checkpoints or without.
func folded(t *rapid.T, m *memory, checkpoints bool, now time.Time) *state {
	if err := m.Flush(); err != nil { // what nobody waits for, too
		t.Fatal(err)
	}
	old := m.after(false)
	defer old.Close()
	if !checkpoints {
		old.ForgetCheckpoints()
	}
	s, err := fold(context.Background(), old)
	if err != nil {
		t.Fatal(err)
	}
	s.advance(now)
	s.settleDown()
	for range 3 { // what one round puts back may be due in the next
		s.tick(1 << 20)
	}
	return s
}

// TestARestartFindsWhatThereWas does everything that can be done, with topics, owners, deduplication, origins, dead
// letters and replays, and after each step compares the state with the one that a start would fold: from all there is
// and from the newest checkpoint. Nor may the journal keep, or have released, a record too many.
func TestARestartFindsWhatThereWas(t *testing.T) {
	cases(t, 100, 10)
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(t *rapid.T) {
			ctx := context.Background()
			mem := newMemory()
			var s *Store
			start := func() {
				var err error
				if s, err = Open(ctx, Options{Journal: mem, CheckpointBytes: 1 << 40}); err != nil {
					t.Fatal(err)
				}
			}
			start()
			defer func() { _ = s.Close(); mem.Close() }()
			name := func(n string) Name { return Name{DefaultNamespace, n} }
			topic, queues := name("t"), []Name{name("a"), name("b"), name("c"), name("a_dead")}
			columns, err := message.ParseColumns([]string{"n int", "text text"})
			if err != nil {
				t.Fatal(err)
			}
			definitions := map[Name]Definition{
				queues[0]: {MaxAttempts: 3, Topic: "default/t", DedupWindow: 20 * time.Second,
					History: 25 * time.Second},
				queues[1]: {Topic: "default/t", Filter: "n = 1", Retention: 40 * time.Second},
				queues[2]: {Topic: "default/t", Columns: columns, Delay: 3 * time.Second},
				queues[3]: {MaxAttempts: 2},
			}
			create := func(t *rapid.T) {
				if _, err := s.CreateTopic(ctx, topic, nil); err != nil {
					t.Fatal(err)
				}
				for _, n := range queues {
					if _, err := s.CreateQueue(ctx, n, definitions[n]); err != nil &&
						!strings.Contains(err.Error(), "topic is none") &&
						!strings.Contains(err.Error(), "dead_letter is") {
						t.Fatal(err)
					}
				}
			}
			create(t)
			var tokens []Token
			owner := s.NewOwner("owner")
			offset := uint64(0)
			msgs := func(t *rapid.T) (ms []message.Message) {
				for range rapid.IntRange(1, 3).Draw(t, "group") {
					n := rapid.Int64Range(0, 1).Draw(t, "n")
					m := message.Message{Body: fmt.Appendf(nil, `{"n": %d, "text": "%s"}`, n,
						strings.Repeat("x", rapid.SampledFrom([]int{1, 200}).Draw(t, "size")))}
					m.Attributes.Set("n", message.Int(n))
					m.Key = rapid.SampledFrom([]string{"", "", "k", "l"}).Draw(t, "key")
					m.Dedup = rapid.SampledFrom([]string{"", "", "", "d", "e"}).Draw(t, "dedup")
					if rapid.IntRange(0, 3).Draw(t, "from outside") == 0 {
						offset += rapid.Uint64Range(0, 2).Draw(t, "offset")
						m.Origin = message.Origin{Source: "file", Offset: offset, Mark: max(offset, 3) - 3}
					}
					if rapid.IntRange(0, 4).Draw(t, "sleeps") == 0 {
						m.NotBefore = time.Now().Add(4 * time.Second)
					}
					ms = append(ms, m)
				}
				return ms
			}
			t.Repeat(map[string]func(*rapid.T){
				"publish": func(t *rapid.T) {
					if _, err := s.Publish(ctx, topic, msgs(t)); err != nil {
						t.Fatal(err)
					}
				},
				"put": func(t *rapid.T) {
					if _, err := s.Put(ctx, rapid.SampledFrom(queues).Draw(t, "queue"), msgs(t)); err != nil {
						t.Fatal(err)
					}
				},
				"claim": func(t *rapid.T) {
					r := ClaimRequest{From: from(rapid.SampledFrom(queues).Draw(t, "queue")),
						Max: rapid.IntRange(1, 3).Draw(t, "max")}
					if rapid.Bool().Draw(t, "for the owner") {
						r.Owner = owner
					}
					if r.Owner == nil || rapid.Bool().Draw(t, "with a lease") {
						r.Lease = time.Duration(rapid.IntRange(2, 12).Draw(t, "lease")) * time.Second
					}
					cs, err := s.Claim(ctx, r)
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range cs {
						tokens = append(tokens, c.Token)
					}
				},
				"settle": func(t *rapid.T) {
					var ss []Settlement
					for range rapid.IntRange(1, 2).Draw(t, "settlements") {
						if len(tokens) == 0 {
							t.Skip("nothing was claimed")
						}
						ss = append(ss, Settlement{
							Token:     rapid.SampledFrom(tokens).Draw(t, "token"),
							Kind:      SettleKind(rapid.IntRange(0, 2).Draw(t, "kind")),
							Delay:     time.Duration(rapid.IntRange(0, 2).Draw(t, "delay")) * 3 * time.Second,
							Uncounted: rapid.Bool().Draw(t, "uncounted"),
						})
					}
					if _, err := s.Settle(ctx, ss); err != nil {
						t.Fatal(err)
					}
				},
				"extend": func(t *rapid.T) {
					if len(tokens) == 0 {
						t.Skip("nothing was claimed")
					}
					lease := time.Duration(rapid.IntRange(0, 9).Draw(t, "lease")) * time.Second
					if _, err := s.Extend(ctx, []Token{rapid.SampledFrom(tokens).Draw(t, "token")}, lease); err != nil {
						t.Fatal(err)
					}
				},
				"end of the owner": func(t *rapid.T) {
					owner.Close()
					owner = s.NewOwner("owner")
				},
				"replay": func(t *rapid.T) {
					r := ReplayRequest{Max: rapid.IntRange(0, 2).Draw(t, "max")}
					n := rapid.SampledFrom(queues).Draw(t, "queue")
					if n != name("a_dead") || rapid.Bool().Draw(t, "elsewhere") {
						r.To = name("b")
					}
					if _, err := s.Replay(ctx, n, r); err != nil {
						t.Fatal(err)
					}
				},
				"seek": func(t *rapid.T) {
					to := SeekTo{Time: time.Now().Add(-time.Duration(rapid.IntRange(-1, 30).Draw(t,
						"seconds ago")) * time.Second)}
					n := rapid.SampledFrom(queues).Draw(t, "queue")
					if list := must(s.Snapshots(t.Context())); len(list) > 0 && rapid.Bool().Draw(t, "to a snapshot") {
						sn := rapid.SampledFrom(list).Draw(t, "snapshot")
						to, n = SeekTo{Snapshot: sn.Name}, sn.Queue
					}
					if _, err := s.Seek(ctx, n, to); err != nil {
						t.Fatal(err)
					}
				},
				"snapshot": func(t *rapid.T) {
					n := name(rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "name"))
					if _, there := s.state.snapshots[n]; there {
						if err := s.DeleteSnapshot(ctx, n); err != nil {
							t.Fatal(err)
						}
						return
					}
					life := time.Duration(rapid.SampledFrom([]int{3, 1000}).Draw(t, "life")) * time.Second
					if _, err := s.TakeSnapshot(ctx, n, rapid.SampledFrom(queues).Draw(t, "queue"),
						SnapshotOptions{Life: life}); err != nil {
						t.Fatal(err)
					}
				},
				"other columns": func(t *rapid.T) {
					n := queues[2]
					d := definitions[n]
					if s.state.queueNames[n].def.Topic == "" {
						t.Skip("the topic was deleted")
					}
					var err error
					if d.Columns, err = message.ParseColumns(rapid.SampledFrom([][]string{
						{"n int", "text text"}, {"text varchar(250)", "n bigint"},
						{"m int not null default 3", "n decimal(5,1)", "text text", "k varchar(9) default 'k'"},
						{"n int", "text tinytext"},
					}).Draw(t, "columns")); err != nil {
						t.Fatal(err)
					}
					d.DeadLetter = s.state.queueNames[n].def.DeadLetter
					switch err := s.AlterQueue(ctx, n, d); {
					case err == nil:
						d.DeadLetter = ""
						definitions[n] = d
					case !errors.Is(err, ErrMismatch):
						t.Fatal(err)
					}
				},
				"rename": func(t *rapid.T) {
					n, other := rapid.SampledFrom(queues).Draw(t, "queue"),
						name(rapid.SampledFrom([]string{"y", "z"}).Draw(t, "other"))
					if s.state.queueNames[other] != nil {
						if err := s.DeleteQueue(ctx, other); err != nil {
							t.Fatal(err)
						}
					}
					switch err := s.RenameQueue(ctx, n, other); {
					case errors.Is(err, ErrDefinition): // its dead letters go to the other one
						t.Skip(err)
					case err != nil:
						t.Fatal(err)
					}
					if rapid.Bool().Draw(t, "and back") {
						if _, err := s.Put(ctx, other, msgs(t)); err != nil {
							t.Fatal(err)
						}
						if err := s.RenameQueue(ctx, other, n); err != nil {
							t.Fatal(err)
						}
					}
					create(t)
				},
				"remove": func(t *rapid.T) {
					n := rapid.SampledFrom(queues).Draw(t, "queue")
					next := s.state.queueNames[n].next
					if _, err := s.Remove(ctx, n, rapid.SliceOfN(rapid.Uint64Range(0, next), 1, 6).Draw(t,
						"sequences")); err != nil {
						t.Fatal(err)
					}
				},
				"purge or delete": func(t *rapid.T) {
					n := rapid.SampledFrom(queues).Draw(t, "queue")
					var err error
					switch rapid.IntRange(0, 20).Draw(t, "how") {
					case 0:
						_, err = s.Purge(ctx, n)
					case 1:
						err = s.DeleteQueue(ctx, n)
					case 2:
						err = s.DeleteTopic(ctx, topic)
					case 3, 4:
						d := definitions[n]
						d.History = time.Duration(rapid.SampledFrom([]int{0, 5, 60}).Draw(t, "history")) * time.Second
						if d.Topic != "" && s.state.queueNames[n].def.Topic == "" {
							t.Skip("the topic was deleted")
						}
						definitions[n], err = d, s.AlterQueue(ctx, n, d)
					default:
						t.Skip()
					}
					if err != nil {
						t.Fatal(err)
					}
					create(t)
				},
				"time": func(t *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second)
				},
				"checkpoint": func(t *rapid.T) {
					if err := s.checkpoint(ctx); err != nil {
						t.Fatal(err)
					}
				},
				"death": func(t *rapid.T) {
					next := mem.after(false)
					_ = s.Close()
					mem.Close()
					mem = next
					start()
					owner = s.NewOwner("owner")
				},
				"": func(t *rapid.T) {
					time.Sleep(time.Millisecond)
					synctest.Wait()
					s.mu.Lock()
					s.catchUp()
					s.mu.Unlock()
					synctest.Wait()
					s.mu.Lock()
					defer s.mu.Unlock()
					now := portrait(s.state) + claimability(s.state, s.state)
					for _, checkpoints := range []bool{false, true} {
						start := folded(t, mem, checkpoints, time.Now())
						if again := portrait(start) + claimability(start, s.state); again != now {
							t.Fatalf("the state is\n%sand a start (checkpoints: %v) finds\n%s", now, checkpoints, again)
						}
					}
					there := unreleased(mem)
					for a := range s.state.live() {
						if !there[a] {
							t.Fatalf("%v is needed and was released\n%s", a, now)
						}
						delete(there, a)
					}
					for a := range there {
						t.Fatalf("%v is needed no more and was not released\n%s", a, now)
					}
					if s.state.reserved != 0 || s.state.reservedBytes != 0 {
						t.Fatalf("%d messages, %d bytes are reserved for nothing", s.state.reserved,
							s.state.reservedBytes)
					}
				},
			})
		})
	})
}
