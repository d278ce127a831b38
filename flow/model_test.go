package flow

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestRingIsAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var model []int
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				v := rapid.Int().Draw(t, "item")
				r.push(v)
				model = append(model, v)
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("it is empty")
				}
				if v := r.pop(); v != model[0] {
					t.Fatalf("the front is %d, want %d", v, model[0])
				}
				model = model[1:]
			},
			"": func(t *rapid.T) {
				if r.n != len(model) {
					t.Fatalf("%d items, want %d", r.n, len(model))
				}
				for i, want := range model {
					if got := *r.at(i); got != want {
						t.Fatalf("item %d is %d, want %d", i, got, want)
					}
				}
			},
		})
	})
}

func TestRingKeepsNothingThatWasTaken(t *testing.T) {
	var r ring[*int]
	for i := range 20 {
		r.push(&i)
	}
	for r.n > 0 {
		r.pop()
	}
	if i := slices.IndexFunc(r.slots, func(p *int) bool { return p != nil }); i >= 0 {
		t.Errorf("slot %d still refers to an item", i)
	}
}

// The cache against the simplest one that can be: a list of what is kept, the one that was used last at its end.
func TestCacheKeepsWhatWasUsedLast(t *testing.T) {
	type entry struct {
		key, value int
		until      time.Time
	}
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(0, 4).Draw(rt, "size")
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 0, 60).Draw(rt, "steps")
		wrong := ""
		synctest.Test(t, func(*testing.T) {
			const ttl = 10 * time.Second
			c := newCache[int, int](size, ttl)
			var model []entry
			for i, step := range steps {
				key := step % 6
				if step < 90 { // who asks for a key whose time is up removes it
					model = slices.DeleteFunc(model, func(e entry) bool {
						return !time.Now().Before(e.until) &&
							e.key == key
					})
				}
				at := slices.IndexFunc(model, func(e entry) bool { return e.key == key })
				switch {
				case step < 40: // get
					v, ok := c.get(key)
					if ok != (at >= 0) || ok && v != model[at].value {
						wrong = "get"
						return
					}
					if ok {
						e := model[at]
						model = append(slices.Delete(model, at, at+1), e)
					}
				case step < 80: // put
					c.put(key, i)
					if at >= 0 {
						model = slices.Delete(model, at, at+1)
					}
					if size > 0 && len(model) == size {
						model = model[1:]
					}
					if size > 0 {
						model = append(model, entry{key, i, time.Now().Add(ttl)})
					}
				case step < 90: // forget
					c.drop(key)
					if at >= 0 {
						model = slices.Delete(model, at, at+1)
					}
				default:
					time.Sleep(3 * time.Second)
				}
				if len(c.entries) != len(model) || c.recent.Len() != len(model) {
					wrong = "number of entries"
					return
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
