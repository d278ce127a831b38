package journey

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

var news = Place{"default", "news"}

// start is when the tests begin, and clock tells what has passed since.
var start = time.Unix(1_700_000_000, 0)

type clock struct{ passed time.Duration }

func (c *clock) now() time.Time { return start.Add(c.passed) }
func (c *clock) ns() int64      { return c.now().UnixNano() }

// id is the n-th message's.
func id(n uint64) (made message.ID) {
	binary.BigEndian.PutUint64(made[:], n+1)
	binary.BigEndian.PutUint64(made[8:], (n+1)*0x9e3779b97f4a7c15)
	return made
}

func kinds(j Journey) string {
	var names []string
	for _, s := range j.Steps {
		names = append(names, s.Kind.String())
	}
	return strings.Join(names, " ")
}

func TestEveryJourneyIsRememberedWhileFewCome(t *testing.T) {
	c := &clock{}
	s := New(Options{Clock: c.now, PerSecond: 10})
	for n := range uint64(30) {
		c.passed += 200 * time.Millisecond
		s.Begin(&Note{ID: id(n), Kind: Accepted, Time: c.ns(), Place: news, By: "http"})
		s.Add(&Note{ID: id(n), Kind: Claimed, Time: c.ns() + 5, Place: news, Attempt: 1, For: time.Minute})
		s.Add(&Note{ID: id(n), Kind: Durable, Time: c.ns() + 2, Place: news}) // told late
		s.End(&Note{ID: id(n), Kind: Done, Time: c.ns() + 9, Place: news}, 9)
	}
	for n := range uint64(30) {
		j, ok := s.Find(id(n))
		if !ok || kinds(j) != "accepted durable claimed done" || j.Steps[0].By != "http" || j.Steps[2].Place != news ||
			j.Steps[2].Attempt != 1 || j.Steps[2].For != time.Minute || j.Late {
			t.Fatalf("message %d: %v %+v", n, ok, j)
		}
	}
	if _, ok := s.Find(id(99)); ok {
		t.Error("a message that never was has a journey")
	}
}

func TestOfManyMessagesSomeAreRememberedAndAllThatFailOrAreSlow(t *testing.T) {
	c := &clock{}
	s := New(Options{Clock: c.now, PerSecond: 50})
	const failed, slow = 19_990, 19_995
	for n := range uint64(20_000) {
		c.passed += 100 * time.Microsecond // 10,000 a second
		hops := message.Hops{message.Accepted: c.ns() - 9000, message.Durable: c.ns() - 5000,
			message.Claimed: c.ns() - 100}
		s.Begin(&Note{ID: id(n), Kind: Accepted, Time: hops[message.Accepted], Place: news})
		took := time.Millisecond
		if n == slow {
			took = time.Second
		}
		if n == failed {
			s.Keep(&Note{ID: id(n), Kind: Dead, Time: c.ns(), Place: news, From: news, Hops: &hops, Text: "no"})
			continue
		}
		s.End(&Note{ID: id(n), Kind: Done, Time: c.ns(), Place: news, From: news, Hops: &hops}, took)
	}
	for n, want := range map[uint64]string{failed: "accepted durable claimed dead",
		slow: "accepted durable claimed done"} {
		if j, ok := s.Find(id(n)); !ok || kinds(j) != want {
			t.Errorf("message %d: %v, %v", n, ok, kinds(j))
		}
	}
	got := s.Stats()
	if got.Journeys < 60 || got.Journeys > 400 || got.Worth != 2 {
		t.Errorf("of 20,000 messages in two seconds %d are remembered, %d as worth it", got.Journeys, got.Worth)
	}
	if got.Every < 150 || got.Every > 250 {
		t.Errorf("one of %d is taken", got.Every)
	}
}

func TestTheRoomIsBoundedAndWhatFailedGoesLast(t *testing.T) {
	c := &clock{}
	const room = 1 << 20
	s := New(Options{Clock: c.now, Bytes: room, PerSecond: 1 << 30})
	for n := range uint64(20_000) {
		note := &Note{ID: id(n), Kind: Accepted, Time: c.ns(), Place: Place{"default", fmt.Sprint("queue ", n%50)},
			Text: strings.Repeat("é", int(n%200))}
		if n < 300 {
			s.Keep(note)
		} else {
			s.Begin(note)
		}
		if got := s.Stats(); n%500 == 0 && got.Bytes > room {
			t.Fatalf("after %d messages %d bytes are taken", n, got.Bytes)
		}
	}
	got := s.Stats()
	if got.Worth != 300 || got.Gone != 0 || got.Bytes < room/2 {
		t.Errorf("%+v", got)
	}
	for n := range uint64(20_000) {
		s.Keep(&Note{ID: id(n + 50_000), Kind: Dead, Time: c.ns(), Place: news})
	}
	if got := s.Stats(); got.Bytes > room || got.Gone == 0 {
		t.Errorf("%+v", got)
	}
	j, _ := s.Find(id(69_999))
	if kinds(j) != "dead" {
		t.Errorf("the latest is forgotten: %v", kinds(j))
	}
}

func TestALongJourneyKeepsItsBeginningAndItsEnd(t *testing.T) {
	c := &clock{}
	s := New(Options{Clock: c.now})
	for n := range 100 {
		s.Keep(&Note{ID: id(1), Kind: Claimed, Time: c.ns() + int64(n), Place: news, Attempt: n + 1,
			Text: strings.Repeat("é", 100)})
	}
	j, _ := s.Find(id(1))
	if len(j.Steps) != maxSteps || j.LeftOut != 100-maxSteps || j.Steps[firstSteps-1].Attempt != firstSteps ||
		j.Steps[maxSteps-1].Attempt != 100 {
		t.Errorf("%d steps, %d left out: %+v", len(j.Steps), j.LeftOut, j.Steps)
	}
	if text := j.Steps[0].Text; len(text) > MaxText || !strings.HasSuffix(text, "é…") {
		t.Errorf("%q has %d bytes", text, len(text))
	}
}

func TestAJourneyIsForgottenAfterAWhile(t *testing.T) {
	c := &clock{}
	s := New(Options{Clock: c.now, Keep: time.Minute})
	s.Begin(&Note{ID: id(1), Kind: Accepted, Time: c.ns(), Place: news})
	c.passed = 50 * time.Second
	s.Add(&Note{ID: id(1), Kind: Claimed, Time: c.ns(), Place: news})
	c.passed = 100 * time.Second
	if _, ok := s.Find(id(1)); !ok {
		t.Error("it is forgotten too early")
	}
	c.passed = 111 * time.Second
	if j, ok := s.Find(id(1)); ok {
		t.Errorf("it is still there: %v", j)
	}
	for n := range uint64(1000) {
		s.Begin(&Note{ID: id(n + 2), Kind: Accepted, Time: c.ns(), Place: news})
	}
	if got := s.Stats(); got.Journeys != 1000 {
		t.Errorf("%d journeys are in memory", got.Journeys)
	}
}

func TestTheSlowestAreFoundByQueueAndByStep(t *testing.T) {
	c := &clock{}
	s := New(Options{Clock: c.now})
	hook := Place{Name: "hook"}
	for n := range uint64(20) {
		took := time.Duration(n) * time.Second
		s.Begin(&Note{ID: id(n), Kind: Accepted, Time: c.ns(), Place: news})
		s.End(&Note{ID: id(n), Kind: Answered, Time: c.ns(), Place: hook, For: time.Minute - took}, time.Minute-took)
		if n != 7 {
			s.End(&Note{ID: id(n), Kind: Done, Time: c.ns() + int64(took), Place: news}, took)
		}
	}
	c.passed = 15 * time.Second
	hidden := func(j *Journey) bool { return j.ID != id(18) }
	names := func(all []Slow) (text string) {
		for _, x := range all {
			text += fmt.Sprint(x.ID, " ", x.Took, " ", x.Ended, "\n")
		}
		return text
	}
	if got := names(s.Slowest(news, time.Hour, 3, hidden)); got != names([]Slow{{id(19), 19 * time.Second, true, 0},
		{id(17), 17 * time.Second, true, 0}, {id(16), 16 * time.Second, true, 0}}) {
		t.Errorf("of the queue:\n%s", got)
	}
	if got := names(s.Slowest(hook, time.Hour, 1, nil)); got != names([]Slow{{id(0), time.Minute, true, 0}}) {
		t.Errorf("of the step:\n%s", got)
	}
	c.passed = time.Minute // the message that is not settled goes on
	if got := names(s.Slowest(news, time.Hour, 1, nil)); got != names([]Slow{{id(7), time.Minute, false, 0}}) {
		t.Errorf("a minute later:\n%s", got)
	}
	if got := s.Slowest(Place{"default", "nowhere"}, time.Hour, 3, nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestWhatWasMadeOfAMessageIsRememberedWithIt(t *testing.T) {
	c := &clock{}
	s := New(Options{Clock: c.now})
	s.Begin(&Note{ID: id(1), Kind: Accepted, Time: c.ns(), Place: news})
	for n := range uint64(100) {
		s.Made(id(1), &Note{ID: id(n + 10), Time: c.ns(), Place: Place{Name: "split"}})
		s.Made(id(2), &Note{ID: id(n + 200), Time: c.ns(), Place: Place{Name: "split"}}) // which nobody knows
	}
	j, _ := s.Find(id(1))
	child, ok := s.Find(id(10))
	if len(j.Steps) != 1+maxMade || j.Steps[1].Kind != Made || j.Steps[1].Text != id(10).String() || !ok ||
		kinds(child) != "made-from" || child.Steps[0].Text != id(1).String() {
		t.Errorf("%+v\n%+v", j, child)
	}
	if got := s.Stats(); got.Journeys != 1+maxMade {
		t.Errorf("%d journeys are remembered", got.Journeys)
	}
}

func TestTheSlowestHundredthIsKnown(t *testing.T) {
	for b := 1; b < buckets-1; b++ {
		if end := endOf(b); bucketOf(end) != b+1 || bucketOf(end-time.Microsecond) != b {
			t.Fatalf("bucket %d ends at %v, which is in %d", b, end, bucketOf(end))
		}
	}
	m := &meter{}
	for n := range 3000 {
		m.isSlow(time.Duration(n%100) * time.Millisecond)
	}
	if m.isSlow(90*time.Millisecond) || !m.isSlow(130*time.Millisecond) {
		t.Errorf("slow is %v", time.Duration(m.slow.Load()))
	}
	for range 50_000 {
		m.isSlow(time.Millisecond)
	}
	if !m.isSlow(10 * time.Millisecond) {
		t.Errorf("it does not follow: %v", time.Duration(m.slow.Load()))
	}
}

func TestWithoutAStoreNothingIsRemembered(t *testing.T) {
	var s *Store
	n := &Note{ID: id(1), Time: 1, Place: news}
	s.Begin(n)
	s.Add(n)
	s.Keep(n)
	s.End(n, time.Second)
	if _, ok := s.Find(id(1)); ok || len(s.Slowest(news, time.Hour, 1, nil)) > 0 || s.Stats() != (Stats{}) {
		t.Error("something is")
	}
}

func TestAMessageThatIsNotRememberedTakesNoMemory(t *testing.T) {
	s := New(Options{PerSecond: 1})
	s.Begin(&Note{ID: id(0), Kind: Accepted, Time: start.UnixNano(), Place: news})
	s.meter(news)
	n := uint64(0)
	var hops message.Hops
	if allocated := testing.AllocsPerRun(1000, func() {
		n++
		s.Begin(&Note{ID: id(n), Kind: Accepted, Time: start.UnixNano(), Place: news})
		s.Add(&Note{ID: id(n), Kind: Claimed, Time: start.UnixNano(), Place: news, By: "http"})
		s.End(&Note{ID: id(n), Kind: Done, Time: start.UnixNano(), Place: news, From: news, Hops: &hops}, 0)
	}); allocated > 0.5 {
		t.Errorf("%v allocations", allocated)
	}
}

func TestManyMayRecordAtOnce(t *testing.T) {
	s := New(Options{Bytes: 1 << 18})
	var all sync.WaitGroup
	for w := range uint64(4) {
		all.Go(func() {
			for n := range uint64(2000) {
				now := start.UnixNano() + int64(n)
				s.Begin(&Note{ID: id(n), Kind: Accepted, Time: now, Place: Place{"default", fmt.Sprint(n % 3000)}})
				s.End(&Note{ID: id(n), Kind: Done, Time: now, Place: Place{"default", fmt.Sprint(w * n)}},
					time.Duration(n))
				s.Find(id(n))
			}
			s.Slowest(Place{}, time.Hour, 5, nil)
			s.Stats()
		})
	}
	all.Wait()
	if got := s.Stats(); got.Bytes > got.Most {
		t.Errorf("%+v", got)
	}
}

func TestHowLongAnswersTookAtAPlaceIsKnown(t *testing.T) {
	s, hook := New(Options{}), Place{Name: "hook"}
	if d, ok := s.Took(hook, 0.5); ok {
		t.Errorf("nothing has happened there, and half of it took %v", d)
	}
	for n := range uint64(100) {
		took := 10 * time.Millisecond
		if n >= 97 {
			took = time.Second
		}
		s.End(&Note{ID: id(n), Kind: Answered, Time: start.UnixNano(), Place: hook}, took)
	}
	for part, want := range map[float64]time.Duration{0.5: 10 * time.Millisecond, 0.99: time.Second} {
		if d, ok := s.Took(hook, part); !ok || d < want || d > want*5/4 {
			t.Errorf("%v of it took %v, not %v", part, d, want)
		}
	}
}
