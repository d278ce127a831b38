package queue

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// holdsKnown are the functions that are known to do too much under the lock, and why. It shall become empty.
var holdsKnown = map[string]string{}

// TestNoHoldOfTheLockGrows calls every exported method of the Store, and of an Owner, in a store of a million messages,
// 20,000 queues, 5,000 snapshots and 20,000 notes, and counts, by steps and not by the clock, what is done each time
// while the lock is held: when a loop turns more than some thousand times, or the disk is read, it fails. A checkpoint
// is under way each time. What one call brings with it (the messages of a put, the tokens of a settlement) it bounds
// itself.
func TestNoHoldOfTheLockGrows(t *testing.T) {
	withoutDetector(t)
	if testing.Short() {
		t.Skip("builds the package once more, and takes half a minute")
	}
	if holdsPlaces == nil {
		runWithSteps(t, t.Name())
		return
	}
	exercises := holdsExercises()
	exercised := map[string]bool{}
	for _, x := range exercises {
		method, _, _ := strings.Cut(x.name, ":")
		exercised[method] = true
	}
	for _, kind := range []reflect.Type{reflect.TypeFor[*Store](), reflect.TypeFor[*ownership]()} {
		for i := range kind.NumMethod() {
			name := kind.Method(i).Name
			if kind == reflect.TypeFor[*ownership]() {
				name = "Owner." + name
			}
			if !exercised[name] {
				t.Errorf("no exercise calls %s: add one to holdsExercises", name)
			}
		}
	}
	w := newHoldsWorld(t, newMemory())
	w.breakBoth(t)
	unmet := maps.Clone(holdsKnown)
	for _, x := range exercises {
		began := time.Now()
		w.saving(t, true)
		holdsCount(x.name)
		err := x.do(w)
		w.rest(t)
		holdsCount("")
		w.saving(t, false)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		t.Logf("%s took %v", x.name, time.Since(began))
		found := holdsFound(x.name)
		for _, in := range slices.Sorted(maps.Keys(found)) {
			if _, known := holdsKnown[in]; !known {
				t.Errorf("%s: %s", x.name, found[in])
			}
			delete(unmet, in)
		}
	}
	for _, in := range slices.Sorted(maps.Keys(unmet)) {
		t.Errorf("%s keeps its bounds by now: take it off holdsKnown", in)
	}
}

// breakBoth walks a queue under the lock and reads the disk there: that has to be found.
func (w *holdsWorld) breakBoth(t *testing.T) {
	t.Helper()
	holdsCount("breaking both rules")
	w.s.mu.Lock()
	var last entry
	w.s.state.queueNames[holdsName("long")].all.Scan(func(e entry) bool { last = e; return true })
	_, err := w.s.bodyPart(last.place())
	w.s.mu.Unlock()
	holdsCount("")
	found := holdsFound("breaking both rules")
	if err != nil || found["messages.Ascend"] == "" || found[holdsRead] == "" {
		t.Fatalf("the steps are not counted: found %v, error %v", found, err)
	}
}
