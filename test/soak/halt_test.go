package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// halt is where a claim that answers an error may have ended: what is there then, and what a power cut may lead back
// to.
type halt struct {
	m    *reference
	past []*reference
}

// refused is a claim whose record was not written. It hands out nothing. But what it met that is out of attempts,
// because the bound was lowered while it waited, is so whatever becomes of the claim: the queue's definition says it,
// which is durable. So it stays out of sight and goes to its dead-letter queue, in a group of its own. after is what
// the claim would have made of before.
func refused(before, after *reference, past []*reference) halt {
	m := before.clone()
	for i, q := range after.queues {
		for j, x := range q.messages {
			m.queues[i].messages[j].doomed = x.doomed
		}
	}
	return halt{m, past}
}

// halted goes on from where a claim has ended that answered an error. There is more than one place only if it met
// damage: it is refused ahead of that, or hands back what it took because the damaged could not be set aside, or cannot
// do that either, so that what it took is nobody's until the leases end; or it is refused when it looks again.
func (w *world) halted(halts []halt) {
	synctest.Wait()
	if w.isCut() || w.down {
		return // a start will say
	}
	at := halts[0]
	if len(halts) > 1 {
		if seen, err := w.look(false); err == nil { // else the next look tells why
			if i := slices.IndexFunc(halts, func(h halt) bool { return w.compare(h.m.clone(), seen) == nil }); i >= 0 {
				at = halts[i]
			}
		}
	}
	w.m, w.past, w.sure = at.m, at.past, len(at.past)
}

// TestAClaimThatIsRefusedAnywhereIsFollowed lets a claim meet a message that is out of attempts, a damaged one and
// sound ones, has the journal refuse each choice of the groups from there on, and ends the process or the power.
func TestAClaimThatIsRefusedAnywhereIsFollowed(t *testing.T) {
	oneProcessor(t)
	const groups = 7
	refusals := 0
	for choice := range 1 << groups {
		for _, most := range []int{1, 3} {
			p := &picky{}
			mutate := func(j journal.Journal) journal.Journal { return &picking{j, p} }
			res := act(t, uint64(choice), 60, mutate, func(w *world) { meetRefusals(w, p, choice, most) })
			if res.err != nil {
				t.Errorf("up to %d messages, refused %07b: %v", most, choice, res.err)
			}
			refusals += p.refusals
		}
	}
	if refusals < 3<<groups {
		t.Errorf("%d refusals: the test looks at nothing", refusals)
	}
}

func meetRefusals(w *world, p *picky, choice, most int) {
	ctx := context.Background()
	w.m.now = w.clock().UnixMicro()
	w.limits = bounds{1000, 1_000_000}
	if err := w.open(); err != nil {
		w.wrong("it does not begin: %v", err)
	}
	a := name("a")
	define := func(d queue.Definition) error { _, err := w.s.CreateQueue(ctx, a, d); return err }
	w.do(true, func() error { w.m.create(a, queue.Definition{}, 0); return nil },
		func() error { return define(queue.Definition{}) })
	dv := delivery{to: a}
	for i := range 4 {
		d := w.draft()
		d.id[0], d.body = byte(i), fmt.Sprintf(`{"n":%d,"s":"%s","text":"%d"}`, d.n, d.s, i)
		d.key, d.dedup, d.source, d.offset, d.wake, d.expire = "", "", "", 0, 0, 0
		dv.drafts = append(dv.drafts, d)
	}
	w.do(true, func() error { return w.m.deliver([]delivery{dv}, true, w.limits, w.choices) }, func() error {
		_, err := w.s.Put(ctx, a, dv.messages())
		return err
	})
	w.settleDown()
	w.claimant++
	w.ask(want{from: []wish{{a, 0}}, max: 1, claimant: w.claimant}, nil)
	spent, _ := w.token()
	w.change(nil, []end{{token: spent, kind: queue.Back}}, nil)
	once := queue.Definition{MaxAttempts: 1}
	w.do(true, func() error { return w.m.redefine(w.m.queue(a), once) },
		func() error { return w.s.AlterQueue(ctx, a, once) })
	w.settleDown()

	p.from(choice, dv.drafts[1].body)
	w.m.queue(a).messages[1].unsound = true
	w.injured = true
	w.claimant++
	w.say("claim %d", most)
	w.ask(want{from: []wish{{a, 0}}, max: most, claimant: w.claimant}, nil)
	w.settleDown()
	if choice%3 == 0 { // the journal is well again, and what is left is done
		p.from(0, dv.drafts[1].body)
		w.recovered(func() { w.injured = false })
	}
	p.from(0, dv.drafts[1].body)
	w.crash(choice%2 == 0)
	w.settleDown()
}

// picky says which groups are refused.
type picky struct {
	mu       sync.Mutex
	refuse   int // a bit for each group to come
	refusals int
	damaged  string // a body
}

func (p *picky) from(refuse int, damaged string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse, p.damaged = refuse, damaged
}

func (p *picky) isDamaged(body []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.damaged != "" && strings.Contains(string(body), p.damaged)
}

func (p *picky) refuses() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.refuse & 1
	p.refuse >>= 1
	if now == 0 {
		return nil
	}
	p.refusals++
	return errors.Join(journal.ErrRefused, errBroken)
}

// picking is a journal that refuses some groups, and has a damaged body.
type picking struct {
	journal.Journal
	*picky
}

func (p *picking) Append(rs []journal.Record, done journal.Done) error {
	if err := p.refuses(); err != nil {
		return err
	}
	return p.Journal.Append(rs, done)
}

func (p *picking) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	if err := p.refuses(); err != nil {
		return nil, err
	}
	return p.Journal.AppendTurn(rs, done)
}

func (p *picking) Write(rs []journal.Record) error {
	if err := p.refuses(); err != nil {
		return err
	}
	return p.Journal.Write(rs)
}

func (p *picking) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	return p.Journal.Read(ctx, addrs, func(i int, r journal.Record, err error) {
		if err == nil && p.isDamaged(r.Body) {
			r, err = journal.Record{}, &journal.DamageError{Where: "the test's disk", What: "a flipped bit",
				Record: addrs[i]}
		}
		each(i, r, err)
	})
}
