package queue

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	inmemory "github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/message"
)

// smallGroups are the limits of a journal that takes little at once, as the stream of a replicated log may.
var smallGroups = journal.Limits{GroupBytes: 1 << 20, GroupRecords: 512}

// TestRuleEveryMethodWorksOverAJournalOfSmallGroups does all that exercises do with a store over a journal that takes
// little at once, and looks at what a restart makes of it.
func TestRuleEveryMethodWorksOverAJournalOfSmallGroups(t *testing.T) {
	withoutDetector(t)
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	m := openedWith(inmemory.New(), smallGroups)
	w := newHoldsWorld(t, m)
	for _, x := range holdsExercises() {
		if x.name == "Close" {
			continue
		}
		began := time.Now()
		if err := x.do(w); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		w.rest(t)
		t.Logf("%s took %v", x.name, time.Since(began))
	}
	before := w.counts(t)
	if err := w.s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Journal: openedWith(m.After(false), smallGroups), Clock: w.s.clock,
		Limits: Limits{Bytes: 4 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	w.s = s
	for name, n := range w.counts(t) {
		if before[name] != n {
			t.Errorf("after a restart queue %s has %d messages, before it had %d", name.Short(), n, before[name])
		}
		delete(before, name)
	}
	if len(before) > 0 {
		t.Errorf("queues are gone after a restart: %v", before)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// counts are how many messages each queue has.
func (w *holdsWorld) counts(t *testing.T) map[Name]int64 {
	t.Helper()
	all := map[Name]int64{}
	for _, n := range must(w.s.Queues(t.Context())) {
		all[n] = must(w.s.Stats(t.Context(), n)).Messages()
	}
	return all
}

func TestRuleWhatNoGroupOfTheJournalTakesIsRefusedAndAllElseGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		least := journal.Limits{GroupBytes: leastGroupBytes, GroupRecords: leastGroupRecords}
		s := open(t, openedWith(inmemory.New(), least))
		long := message.Message{Body: make([]byte, least.GroupBytes)}
		wide := message.Message{}
		for i := range 2000 {
			wide.Attributes = append(wide.Attributes, message.Attribute{Name: fmt.Sprintf("a%04d", i),
				Value: message.Bool(true)})
		}
		for what, refused := range map[string][]message.Message{
			"a long body": {long}, "many attributes": {wide}, "many messages": make([]message.Message, 17)} {
			if _, err := s.Put(t.Context(), news, refused); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %v", what, err)
			}
		}
		largest := text(strings.Repeat("x", s.limits.MessageBytes-2*putRoom))
		if r := mustPut(t, s, news, largest...); r[0].Sequence != 1 {
			t.Errorf("what was refused took places: the first is at %d", r[0].Sequence)
		}
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		settle(t, s, Settlement{Token: c[0].Token, Kind: Dead, Reason: strings.Repeat("r", 2*maxReason)})
		dead := Name{DefaultNamespace, "news_dead"}
		if c := mustClaim(t, s, ClaimRequest{From: from(dead)}); bodies(c) != bodies(claimsOf(largest)) {
			t.Errorf("%d bytes are dead, %d were put", len(bodies(c)), len(largest[0].Body))
		}
		for range 4 {
			mustPut(t, s, news, make([]message.Message, 10)...)
		}
		c = mustClaim(t, s, ClaimRequest{From: from(news), Max: 99})
		var tokens []Token
		var ends []Settlement
		for _, c := range c {
			tokens, ends = append(tokens, c.Token), append(ends, Settlement{Token: c.Token})
		}
		if errs, err := s.Extend(t.Context(), tokens, time.Minute); err != nil || errors.Join(errs...) != nil {
			t.Errorf("extend: %v, %v", errs, err)
		}
		for _, atomic := range []Change{{Settles: ends}, {Notes: make([]Note, 17)}} {
			if _, _, err := s.Commit(t.Context(), atomic); !errors.Is(err, ErrTooLarge) ||
				!strings.Contains(err.Error(), "limits are 16 and 32768") {
				t.Errorf("a change of %d records: %v", atomic.records(), err)
			}
		}
		settle(t, s, ends...)
		if st := must(s.Stats(t.Context(), news)); st.Messages() != 0 || st.TotalDone != 40 {
			t.Errorf("%+v", st)
		}
	})
}

func claimsOf(ms []message.Message) (cs []Claim) {
	for _, m := range ms {
		cs = append(cs, Claim{Message: m})
	}
	return cs
}

func TestRuleADeadLetterForATopicIsStoredOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := openedWith(inmemory.New(), journal.Limits{GroupBytes: 64 << 10, GroupRecords: 64})
		s := open(t, m)
		topic := Name{DefaultNamespace, "grave"}
		must(s.CreateTopic(t.Context(), topic, nil))
		for i := range 10 {
			must(s.CreateQueue(t.Context(), holdsName("all%d", i), Definition{Topic: "grave"}))
		}
		must(s.CreateQueue(t.Context(), news, Definition{MaxAttempts: 1, DeadLetter: "grave"}))
		body := strings.Repeat("x", 20_000)
		mustPut(t, s, news, text(body)...)
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		settle(t, s, Settlement{Token: c[0].Token, Kind: Back})
		synctest.Wait()
		if n := len(m.last().Records); n != 12 {
			t.Errorf("the group has %d records: want the end, the letter, and ten who share it", n)
		}
		for i := range 10 {
			c := mustClaim(t, s, ClaimRequest{From: from(holdsName("all%d", i))})
			if bodies(c) != body || c[0].Message.Death == nil {
				t.Errorf("subscription %d has %d bytes", i, len(bodies(c)))
			}
			settle(t, s, Settlement{Token: c[0].Token})
		}
		if st := must(s.TopicStats(t.Context(), topic)); st.TotalPublish != 0 {
			t.Errorf("%d dead letters count as published", st.TotalPublish)
		}
		for _, g := range m.Groups() {
			for i, r := range g.Records {
				if a := (journal.Address{Position: g.Position, Index: uint32(i)}); r.Life == journal.Lasting &&
					!m.Released(a) {
					t.Errorf("record %v is kept, and nobody needs it", a)
				}
			}
		}
	})
}
