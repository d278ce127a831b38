package allowance

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fatal is what *testing.T and *rapid.T have in common.
type fatal interface {
	Helper()
	Fatal(args ...any)
}

// opened is a store in a folder.
func opened(t *testing.T, f fatal, dir string) (s *queue.Store, closed func()) {
	f.Helper()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: dir, Durability: journal.None})
	if err != nil {
		f.Fatal(err)
	}
	if s, err = queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true}); err != nil {
		f.Fatal(err)
	}
	return s, func() {
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			f.Fatal(err)
		}
	}
}

// trial is an allowance and its clock.
type trial struct {
	*Allowance
	t    *testing.T
	time atomic.Pointer[time.Time] // what keeps what was taken reads it now and then
}

func (tr *trial) now() time.Time { return *tr.time.Load() }

// later lets time pass.
func (tr *trial) later(by time.Duration) {
	now := tr.now().Add(by)
	tr.time.Store(&now)
}

func newTrial(t *testing.T, store Store, c Config) *trial {
	t.Helper()
	tr, begin := &trial{t: t}, time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	tr.time.Store(&begin)
	tr.start(t, store, c)
	return tr
}

func (tr *trial) start(f fatal, store Store, c Config) {
	f.Helper()
	c.Store = store
	if c.Remember == 0 {
		c.Remember = 1 << 20
	}
	c.Clock = tr.now
	tr.Allowance = New(c)
	if err := tr.Start(tr.t.Context()); err != nil {
		f.Fatal(err)
	}
}

// take takes one push.
func (tr *trial) take(f fatal, p Push) bool {
	f.Helper()
	may, err := tr.Take(tr.t.Context(), []Push{p})
	if err != nil {
		f.Fatal(err)
	}
	return may[0]
}

func (tr *trial) close(f fatal) {
	f.Helper()
	if err := tr.Close(); err != nil {
		f.Fatal(err)
	}
}

func to(user string) Push { return Push{User: user, Message: message.NewID()} }

// TestACapLastsAsLongAsWasSaidWhateverTheClockDoes sets the clock forward and back, also over restarts.
func TestACapLastsAsLongAsWasSaidWhateverTheClockDoes(t *testing.T) {
	store, closed := opened(t, t, t.TempDir())
	defer closed()
	var passed atomic.Int64
	c := Config{Room: "r", Most: 1, Within: time.Hour,
		Passed: func() time.Duration { return time.Duration(passed.Load()) }}
	tr := newTrial(t, store, c)
	anew := func() {
		t.Helper()
		tr.close(t)
		passed.Store(0)
		tr.start(t, store, c)
	}
	lasts := func(name string) {
		t.Helper()
		if !tr.take(t, to(name)) {
			t.Fatalf("%s gets nothing", name)
		}
		passed.Add(int64(time.Hour - time.Minute))
		if tr.take(t, to(name)) {
			t.Fatalf("%s gets more within an hour", name)
		}
		passed.Add(int64(2 * time.Minute))
	}
	const year = 365 * 24 * time.Hour
	if !tr.take(t, to("forward")) {
		t.Fatal("nothing")
	}
	tr.later(year)
	if tr.take(t, to("forward")) {
		t.Error("a clock that is set forward gives as many again")
	}
	lasts("a")
	anew() // in a year that has not come
	if !tr.take(t, to("ahead")) {
		t.Fatal("nothing")
	}
	tr.later(-year)
	for range 2 {
		anew()
		if tr.take(t, to("ahead")) {
			t.Error("a clock that is set back gives as many again")
		}
	}
	passed.Add(int64(time.Hour + time.Minute))
	lasts("ahead")
	tr.close(t)
}

// TestNobodyGetsMoreThanIsAllowedAndNobodyLess compares with lists, over restarts.
func TestNobodyGetsMoreThanIsAllowedAndNobodyLess(t *testing.T) {
	store, closed := opened(t, t, t.TempDir())
	defer closed()
	room := 0
	rapid.Check(t, func(r *rapid.T) {
		room++
		c := Config{Room: fmt.Sprint(room), Most: rapid.IntRange(1, 4).Draw(r, "most"), Within: time.Minute}
		tr := newTrial(t, store, c)
		type had struct {
			push Push
			at   time.Time
		}
		lists := map[string][]had{}
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			user := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "user")
			var count []had
			for _, one := range lists[user] {
				if one.at.Add(c.Within).After(tr.now()) {
					count = append(count, one)
				}
			}
			switch rapid.IntRange(0, 9).Draw(r, "what") {
			case 0:
				tr.later(time.Duration(rapid.IntRange(1, 40).Draw(r, "later")) * time.Second)
				continue
			case 1:
				tr.close(r)
				tr.start(r, store, c)
			case 2:
				if len(count) > 0 {
					i := rapid.IntRange(0, len(count)-1).Draw(r, "which")
					tr.Return(count[i].push)
					count = append(count[:i:i], count[i+1:]...)
				}
			case 3:
				if len(count) > 0 {
					i := rapid.IntRange(0, len(count)-1).Draw(r, "which")
					if !tr.take(r, count[i].push) {
						r.Fatal("a push that counts may not come again")
					}
					count[i].at = tr.now()
				}
			case 4:
				if len(count) > 0 {
					i := rapid.IntRange(0, len(count)-1).Draw(r, "which")
					tr.Confirm(count[i].push)
					count[i].at = tr.now()
				}
			default:
				p := to(user)
				may := tr.take(r, p)
				if want := len(count) < c.Most; may != want {
					r.Fatal(fmt.Sprintf("%s has had %d of %d: may %v", user, len(count), c.Most, may))
				}
				if may {
					count = append(count, had{p, tr.now()})
				}
			}
			lists[user] = count
		}
		tr.close(r)
	})
}

func TestWhatWasTakenCountsAfterAKill(t *testing.T) {
	store, closed := opened(t, t, t.TempDir())
	defer closed()
	c := Config{Most: 2, Within: time.Hour}
	tr := newTrial(t, store, c)
	first, second := to("42"), to("42")
	if !tr.take(t, first) || !tr.take(t, second) {
		t.Fatal("two are allowed")
	}
	killed := tr.Allowance // nothing of it is kept any more
	tr.start(t, store, c)
	if tr.take(t, to("42")) {
		t.Error("a third one may go after a kill")
	}
	if !tr.take(t, second) {
		t.Error("what was under way at the kill may not come again")
	}
	if !tr.take(t, to("43")) {
		t.Error("another user may have none")
	}
	tr.later(c.Within)
	if !tr.take(t, to("42")) {
		t.Error("the time is over, and there may be none")
	}
	tr.close(t)
	killed.stop()
	<-killed.done
}

// TestAPushThatWaitedCountsFromWhenItLeft: else one that waited for long would make room for another too early.
func TestAPushThatWaitedCountsFromWhenItLeft(t *testing.T) {
	store, closed := opened(t, t, t.TempDir())
	defer closed()
	c := Config{Most: 1, Within: time.Hour}
	tr := newTrial(t, store, c)
	p := to("42")
	tr.take(t, p)
	tr.later(50 * time.Minute)
	tr.Renew(p)
	tr.close(t)
	tr.start(t, store, c)
	tr.later(50 * time.Minute)
	if tr.take(t, to("42")) {
		t.Error("it left 50 minutes ago, and another may go within the hour")
	}
	tr.later(10 * time.Minute)
	if !tr.take(t, to("42")) {
		t.Error("an hour after it none may go")
	}
	tr.close(t)
}

func TestWhatCannotBeKeptIsNotTaken(t *testing.T) {
	dir := t.TempDir()
	store, closed := opened(t, t, dir)
	c := Config{Most: 1, Within: time.Hour}
	tr := newTrial(t, store, c)
	closed()
	if may, err := tr.Take(t.Context(), []Push{to("42")}); err == nil {
		t.Errorf("a closed store has taken %v", may)
	}
	if n := tr.Stats().Remembered; n != 0 {
		t.Errorf("%d count", n)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	store, closed = opened(t, t, dir)
	defer closed()
	tr.start(t, store, c)
	if !tr.take(t, to("42")) {
		t.Error("what was not taken counts")
	}
	tr.close(t)
}

// TestMemoryAndDiskAreBounded: by time, and by number where there are too many.
func TestMemoryAndDiskAreBounded(t *testing.T) {
	store, closed := opened(t, t, t.TempDir())
	defer closed()
	const remember = 20_000
	c := Config{Most: 3, Within: time.Hour, Remember: remember}
	tr := newTrial(t, store, c)
	pushes := make([]Push, MostAtOnce)
	for round := range 100 {
		for i := range pushes {
			pushes[i] = to(fmt.Sprint(round*MostAtOnce + i))
		}
		if _, err := tr.Take(t.Context(), pushes); err != nil {
			t.Fatal(err)
		}
		if i := round % 7; i == 0 { // refused ones take room until they are kept
			for i := range pushes {
				tr.Return(pushes[i])
			}
		}
		tr.later(time.Second)
	}
	if n := len(tr.book.slots); n > 2*remember {
		t.Errorf("%d places for %d", n, remember)
	}
	if s := tr.Stats(); s.Remembered > remember || s.Forgotten == 0 {
		t.Errorf("%+v", s)
	}
	size := func() (pages, bytes int) {
		notes, err := store.Notes(t.Context(), tr.room)
		if err != nil {
			t.Error(err)
		}
		for _, n := range notes {
			pages, bytes = pages+1, bytes+len(n.Value)
		}
		return pages, bytes
	}
	// What is on the disk is what counts, two pages that are not over, and what was returned.
	if pages, bytes := size(); bytes > (2*remember+2*pageEntries)*entrySize || pages > 3*smallPages {
		t.Errorf("%d bytes in %d pages", bytes, pages)
	}
	tr.later(c.Within + time.Second)
	for range 3 {
		if err := tr.save(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if pages, bytes := size(); pages != 0 {
		t.Errorf("nothing counts, and there are %d bytes in %d pages", bytes, pages)
	}
	if n := len(tr.book.heads); n != 0 {
		t.Errorf("%d users are known", n)
	}
	tr.close(t)
}

func FuzzPages(f *testing.F) {
	f.Add("p0000000000000001", appendEntry(appendEntry(nil, entry{1, 2, 3}), entry{4, 5, 0}))
	f.Add("p00000000000000xx", []byte{1, 2, 3})
	f.Add("p0A00000000000000", []byte{})
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		if n, err := pageNumber(key); err == nil && pageKey(n) != key {
			t.Errorf("%q is %q", key, pageKey(n))
		}
		var again []byte
		b := newBook(10)
		err := readEntries(value, func(e entry) {
			again = appendEntry(again, e)
			b.take(e, 1)
		})
		if err == nil && string(again) != string(value) {
			t.Errorf("%x is %x", value, again)
		}
		if b.next-b.first > 10 {
			t.Errorf("%d of 10", b.next-b.first)
		}
	})
}

func BenchmarkTake(b *testing.B) {
	book := newBook(1 << 20)
	var n uint64
	for b.Loop() {
		n++
		e := entry{n * 0x9e3779b97f4a7c15 >> 44, n, uint32(n >> 10)}
		if c, _ := book.count(e.user, e.push, 0); c < 1000 {
			book.add(e, 0)
		}
	}
}
