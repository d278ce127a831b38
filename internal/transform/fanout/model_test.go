package fanout

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// world is a campaign whose process crashes, whose database goes away and changes, and whose items are settled in any
// order.
type world struct {
	t       *rapid.T
	random  *rand.Rand
	notes   *notes
	table   *table
	resume  bool
	first   []int                     // users there from the beginning to the end
	settled map[string]bool           // durably
	doubt   map[string]message.Origin // sent, and not known to be settled, when a crash came
	open    map[string]component.Delivery
	mark    uint64          // the greatest that an item was sent with
	ever    map[string]bool // settled at some time, durably or not
	told    []string        // settled, and perhaps not yet durably
}

// Send takes an item: never one that was durably settled, and one in doubt only as what it was.
func (w *world) Send(_ context.Context, d component.Delivery) error {
	body := string(d.Message.Body)
	o := d.Message.Origin
	if w.settled[body] {
		w.t.Fatalf("%s was settled, and is sent again", body)
	}
	if _, twice := w.open[body]; twice {
		w.t.Fatalf("%s is under way, and is sent again", body)
	}
	if before, ok := w.doubt[body]; ok &&
		(before.Offset != o.Offset || before.Part != o.Part || before.Source != o.Source) {
		w.t.Fatalf("%s was %+v before the crash, and is %+v", body, before, o)
	}
	if o.Offset < o.Mark || o.Mark == 0 || o.Offset < w.mark {
		w.t.Fatalf("%s has the label %d, below the mark %d: a queue would refuse it", body, o.Offset,
			max(o.Mark, w.mark))
	}
	if w.random.IntN(40) == 0 {
		return errDown // as a pipeline that stops: it is not taken
	}
	w.mark = max(w.mark, o.Mark)
	w.open[body] = d
	if w.random.IntN(10) == 0 {
		w.settle(w.random.IntN(5))
	}
	return nil
}

// settle tells of some items, in any order.
func (w *world) settle(n int) {
	for body, d := range w.open {
		if n--; n < 0 {
			return
		}
		delete(w.open, body)
		if w.random.IntN(30) == 0 {
			w.doubt[body] = d.Message.Origin
			d.Settle(component.Again(0, errDown))
			continue
		}
		w.doubt[body] = d.Message.Origin
		d.Settle(component.OK(time.Time{}))
		w.told = append(w.told, body)
		w.ever[body] = true
	}
}

// flush makes what was told durable.
func (w *world) flush(f *Fanout) {
	if err := f.settles.Flush(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	for _, body := range w.told {
		w.settled[body] = true
		delete(w.doubt, body)
	}
	w.told = nil
}

// change takes a user away or brings one.
func (w *world) change() {
	w.table.mu.Lock()
	defer w.table.mu.Unlock()
	id := w.random.IntN(2000)
	i, there := slices.BinarySearch(w.table.ids, id)
	switch {
	case slices.Contains(w.first, id):
	case there:
		w.table.ids = slices.Delete(w.table.ids, i, i+1)
	default:
		w.table.ids = slices.Insert(w.table.ids, i, id)
	}
}

func TestNobodyWhoWasSettledIsSentAgainWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		w := &world{t: rt, random: rand.New(rand.NewPCG(seed, 1)), notes: newNotes(),
			resume:  rapid.Bool().Draw(rt, "resume"),
			settled: map[string]bool{}, ever: map[string]bool{}, doubt: map[string]message.Origin{},
			open: map[string]component.Delivery{}}
		w.table = &table{resume: w.resume}
		for id := range 2000 {
			switch w.random.IntN(20) {
			case 0:
				w.first = append(w.first, id)
				w.table.ids = append(w.table.ids, id)
			case 1:
				w.table.ids = append(w.table.ids, id)
			}
		}
		w.table.fail = func(int) error {
			if w.random.IntN(400) == 0 {
				return errDown
			}
			return nil
		}
		c := newCampaign()
		f := begin(t, Config{Page: 1 + w.random.IntN(30)}, w.notes, w.table)
		for step := 0; ; step++ {
			if step > 300 {
				w.table.fail = nil
			}
			if step > 1000 {
				rt.Fatalf("it does not end: %d of %d settled", len(w.settled), len(w.first))
			}
			err := f.Stream(t.Context(), c.delivery(), w)
			for range w.random.IntN(4) {
				w.change()
			}
			if w.random.IntN(3) == 0 {
				w.settle(w.random.IntN(50))
			}
			if w.random.IntN(2) == 0 {
				w.flush(f)
			}
			if crash := w.random.IntN(3) == 0; crash && (err != nil || w.random.IntN(4) == 0) {
				f = w.crash(f)
				continue
			}
			if err != nil {
				continue
			}
			for len(w.open) > 0 {
				w.settle(10)
			}
			w.flush(f)
			if c.verdict(t) == component.Delivered {
				break
			}
		}
		for _, id := range w.first {
			if !w.ever[fmt.Sprintf(`{"id":%d}`, id)] {
				rt.Fatalf("user %d was there all the time, and was passed over", id)
			}
		}
		if err := f.Close(); err != nil {
			rt.Fatal(err)
		}
		if count, _ := w.notes.size(); count > 2 {
			rt.Fatalf("%d notes are left", count)
		}
	})
}

// crash forgets everything but the notes. What was on its way is in doubt.
func (w *world) crash(f *Fanout) *Fanout {
	page := f.config.Page
	if w.random.IntN(3) == 0 {
		page = 1 + w.random.IntN(30) // somebody changed the settings, too
	}
	for body, d := range w.open {
		w.doubt[body] = d.Message.Origin
	}
	if w.random.IntN(2) == 0 {
		w.flush(f)
	}
	w.notes.mu.Lock()
	kept := map[string][]byte{}
	for k, v := range w.notes.all {
		kept[k] = v
	}
	w.notes.mu.Unlock()
	clear(w.open)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	old := w.notes
	old.mu.Lock()
	old.fail = func() error { return errFull } // it is dead: nothing of it is kept
	old.mu.Unlock()
	_ = f.settles.Shutdown(ended)
	w.notes = newNotes()
	w.notes.all = kept
	// What was told and made durable before the crash counts; the rest is in doubt.
	w.told = nil
	table := &table{resume: w.resume, ids: w.table.ids, fail: w.table.fail}
	w.table = table
	return begin(w.t, Config{Page: page}, w.notes, table)
}
