package dead

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func isDead(r *Registry, app, of, token string) bool {
	_, dead := r.Dead(app, of, token, time.Time{})
	return dead
}

// reopened is the registry of the folder after a restart.
func reopened(t *testing.T, h *house, r *Registry) (*house, *Registry) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	h.close(t)
	h = open(t, h.dir)
	return h, registry(t, h)
}

func TestARevivedDeviceIsAliveAlsoAfterARestart(t *testing.T) {
	h := open(t, t.TempDir())
	r := registry(t, h)
	for i := range 3 * mergeNotes { // the pages of the deaths lie before that of the revival, and are merged with it
		markAll(t, r, Death{App: "news", Token: token(i), Since: noon, Reason: "BadDeviceToken", Status: 400})
	}
	n, err := r.Revive(t.Context(), Selection{App: "news", Token: token(0)}, false)
	if n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for restart := range 3 {
		if isDead(r, "news", "", token(0)) || !isDead(r, "news", "", token(1)) || r.Len() != 3*mergeNotes-1 {
			t.Errorf("after %d restarts: %d are dead", restart, r.Len())
		}
		for i := range mergeNotes {
			markAll(t, r, Death{App: "other", Token: token(1000*restart + i), Since: noon})
		}
		if n, err := r.Revive(t.Context(), Selection{App: "other"}, false); n != mergeNotes || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		h, r = reopened(t, h, r)
	}
	// A far end may say again what it said before, with the same time.
	markAll(t, r, Death{App: "news", Token: token(0), Since: noon, Reason: "Unregistered", Status: 410})
	h, r = reopened(t, h, r)
	if !isDead(r, "news", "", token(0)) {
		t.Error("it died again, and that is forgotten")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	h.close(t)
}

func TestASelectionRevivesWhatItMeans(t *testing.T) {
	h := open(t, t.TempDir())
	defer h.close(t)
	r := registry(t, h)
	defer r.Close()
	day := 24 * time.Hour
	all := []Death{
		{App: "news", Token: "a", Since: noon, Reason: "BadDeviceToken"},
		{App: "news", Of: "sandbox com.news", Token: "a", Since: noon, Reason: "BadDeviceToken"},
		{App: "news", Token: "b", Since: noon.Add(day), Reason: "BadDeviceToken"},
		{App: "news", Token: "c", Since: noon.Add(day), Reason: "Unregistered"},
		{App: "mail", Token: "a", Since: noon.Add(day), Reason: "BadDeviceToken"},
	}
	for _, c := range []struct {
		s    Selection
		want []int
	}{
		{Selection{All: true}, []int{0, 1, 2, 3, 4}},
		{Selection{App: "news"}, []int{0, 1, 2, 3}},
		{Selection{Reason: "BadDeviceToken"}, []int{0, 1, 2, 4}},
		{Selection{Of: "sandbox com.news"}, []int{1}},
		{Selection{Since: noon.Add(time.Second)}, []int{2, 3, 4}},
		{Selection{App: "news", Reason: "BadDeviceToken", Since: noon.Add(day)}, []int{2}},
		{Selection{App: "news", Token: "a"}, []int{0, 1}},
		{Selection{Token: "a"}, []int{0, 1, 4}},
		{Selection{App: "news", Of: "sandbox com.news", Token: "a"}, []int{1}},
		{Selection{App: "news", Token: "c", Reason: "BadDeviceToken"}, nil},
		{Selection{App: "nobody"}, nil},
		{Selection{App: "nobody", Token: "a"}, nil},
	} {
		markAll(t, r, all...)
		for _, dry := range []bool{true, false} {
			if n, err := r.Revive(t.Context(), c.s, dry); n != len(c.want) || err != nil {
				t.Errorf("%+v revives %d (dry %v): %v", c.s, n, dry, err)
			}
			for i, d := range all {
				if dead := isDead(r, d.App, d.Of, d.Token); dead != (dry || !slices.Contains(c.want, i)) {
					t.Errorf("%+v: device %d is dead: %v", c.s, i, dead)
				}
			}
		}
	}
	if _, err := r.Revive(t.Context(), Selection{}, false); !errors.Is(err, ErrNoSelection) {
		t.Errorf("without a selection: %v", err)
	}
	if _, err := New(Config{}).Revive(t.Context(), Selection{All: true}, false); !errors.Is(err, ErrNotOpen) {
		t.Errorf("before the start: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	markAll(t, r, all...)
	if n, err := r.Revive(ended, Selection{All: true}, false); n != 0 || !errors.Is(err, context.Canceled) ||
		r.Len() != len(all) {
		t.Errorf("given up before: %d, %v, and %d are dead", n, err, r.Len())
	}
}

func TestTheDeadAreCountedByCauseAndDayAndATokenIsFound(t *testing.T) {
	h := open(t, t.TempDir())
	r := registry(t, h)
	bad := Cause{App: "news", Reason: "BadDeviceToken", Status: 400}
	gone := Cause{App: "news", Of: "sandbox com.news", Reason: "Unregistered", Status: 410}
	next := noon.Add(24 * time.Hour)
	for i, c := range []Cause{bad, bad, gone} {
		markAll(t, r, Death{App: c.App, Of: c.Of, Reason: c.Reason, Status: c.Status, Token: token(i), Since: noon})
	}
	markAll(t, r, Death{App: bad.App, Reason: bad.Reason, Status: bad.Status, Token: token(2), Since: next})
	h, r = reopened(t, h, r)
	defer h.close(t)
	defer r.Close()
	midnight := noon.Truncate(24 * time.Hour)
	totals, rest, err := r.Totals(Selection{})
	want := []Total{{bad, midnight.Add(24 * time.Hour), 1}, {bad, midnight, 2}, {gone, midnight, 1}}
	if !slices.Equal(totals, want) || rest != 0 || err != nil {
		t.Errorf("%+v, %d, %v", totals, rest, err)
	}
	found, err := r.Find(Selection{Token: token(2)})
	if want := []Found{{bad, next}, {gone, noon}}; !slices.Equal(found, want) || err != nil {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := r.Find(Selection{Token: token(9)}); len(found) > 0 || err != nil {
		t.Errorf("one that never died: %+v, %v", found, err)
	}
	if _, err := r.Find(Selection{App: "news"}); !errors.Is(err, ErrNoSelection) {
		t.Errorf("without a token: %v", err)
	}
}

// oldPage is what the program before causes wrote for three deaths at noon of app "news", with the tokens token-0 to
// token-2: its bytes.
const oldPage = "f25028d8a239117569a42a406e04d83a26792d7769a42a40ccb2c490adf7f21669a42a40"

func TestNotesOfTheFirstFormAreReadAndWrittenAnew(t *testing.T) {
	h := open(t, t.TempDir())
	value, err := hex.DecodeString(oldPage)
	if err != nil {
		t.Fatal(err)
	}
	old := queue.Note{Room: "push/dead/phones", Key: "000000000000002a", Value: value}
	if err := h.store.SetNotes(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	r := registry(t, h)
	markAll(t, r, Death{App: "mail", Token: "a", Since: noon, Reason: "Unregistered"})
	if n, err := r.Revive(t.Context(), Selection{App: "news", Token: token(1)}, false); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	want := func(when string) {
		t.Helper()
		for i := range 3 {
			if dead := isDead(r, "news", "", token(i)); dead != (i != 1) || r.Len() != 3 {
				t.Errorf("%s: device %d is dead: %v, of %d", when, i, dead, r.Len())
			}
		}
		found, err := r.Find(Selection{App: "news", Token: token(2)})
		if want := []Found{{Cause{App: "news"}, noon}}; !slices.Equal(found, want) || err != nil {
			t.Errorf("%s: %+v, %v", when, found, err)
		}
		totals, _, err := r.Totals(Selection{App: "news"})
		if len(totals) > 0 || err != nil {
			t.Errorf("%s: they are of an app: %+v, %v", when, totals, err)
		}
	}
	want("before a restart")
	h, r = reopened(t, h, r)
	want("after a restart")
	for range noteEntries { // until most of what is noted is out of date
		markAll(t, r, Death{App: "mail", Token: "b"})
		if n, err := r.Revive(t.Context(), Selection{App: "mail", Token: "b"}, false); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	h, r = reopened(t, h, r)
	want("written anew")
	for _, n := range must(h.store.Notes(t.Context(), "push/dead/phones")) {
		if n.Key[0] != pagePrefix[0] && n.Key[0] != causePrefix[0] {
			t.Errorf("note %s is left", n.Key)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	h.close(t)
}

func TestThereIsABoundToCauses(t *testing.T) {
	h := open(t, t.TempDir())
	r := registry(t, h)
	var some []Death
	for i := range mostCauses + 100 {
		some = append(some, Death{App: fmt.Sprint("app", i/2), Token: token(i), Since: noon,
			Reason: fmt.Sprint("reason", i)})
	}
	markAll(t, r, some...)
	totals, _, err := r.Totals(Selection{})
	if n := len(r.causes.all); n > mostCauses || len(totals) < mostExact || err != nil || r.Len() != len(some) {
		t.Errorf("%d causes, %d totals of %d devices, %v", n, len(totals), r.Len(), err)
	}
	last := some[len(some)-1]
	found, err := r.Find(Selection{App: last.App, Token: last.Token})
	if len(found) != 1 || found[0].App != last.App || found[0].Reason != "" || err != nil {
		t.Errorf("the last one: %+v, %v", found, err)
	}
	if n, err := r.Revive(t.Context(), Selection{All: true}, false); n != len(some) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	markAll(t, r, Death{App: "news", Token: "a", Since: noon, Reason: "Unregistered"})
	for range 3 {
		if _, err := r.Revive(t.Context(), Selection{All: true}, false); err != nil {
			t.Fatal(err)
		}
		markAll(t, r, some...)
	}
	if _, err := r.Revive(t.Context(), Selection{All: true}, false); err != nil {
		t.Fatal(err)
	}
	h, r = reopened(t, h, r) // writes it anew
	defer h.close(t)
	defer r.Close()
	if n := len(r.causes.all); n > 0 || r.Len() > 0 {
		t.Errorf("%d causes and %d devices are left", n, r.Len())
	}
}

// dying is a store that takes so many commits and then no more, as if the program had been killed between them.
type dying struct {
	Store
	left int
}

var errDied = errors.New("killed")

func (d *dying) Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	if d.left == 0 {
		return nil, nil, errDied
	}
	d.left--
	return d.Store.Commit(ctx, c)
}

func TestACrashWhileNotesAreWrittenAnewBringsNobodyBackFromEitherState(t *testing.T) {
	h := open(t, t.TempDir())
	defer h.close(t)
	room := func(store Store) *Registry { return New(Config{Store: store, Room: "phones", Platform: "apns"}) }
	r := room(h.store)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	const pages = 1100 // more than are forgotten at once
	for i := range pages {
		e := entry{key: keyOf("news", "", token(i%50)), at: uint32(1000 + i)}
		if i%50 >= 25 && i >= pages-75 { // the last word of half of them
			e.at = 0
		}
		n := queue.Note{Room: r.room, Key: pageKey(uint64(i)), Value: appendEntry(nil, e)}
		if err := h.store.SetNotes(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	commits := 0
	for died := true; died; commits++ {
		r = room(&dying{h.store, commits})
		err := r.Start(t.Context())
		if died = errors.Is(err, errDied); err != nil && !died {
			t.Fatal(err)
		}
		if died { // what the next one finds, without writing it anew
			r = room(&dying{h.store, 0})
			if err := r.load(t.Context()); err != nil && !errors.Is(err, errDied) {
				t.Fatal(err)
			}
		}
		for i := range 50 {
			if dead := isDead(r, "news", "", token(i)); dead != (i < 25) {
				t.Errorf("after %d commits %s is dead: %v", commits, token(i), dead)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if commits < 3 {
		t.Errorf("writing anew took %d commits", commits)
	}
}

func TestWhatIsKnownIsWhatWasSaidLast(t *testing.T) {
	h := open(t, t.TempDir())
	defer h.close(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		start := func() *Registry {
			r := New(Config{Store: h.store, Room: fmt.Sprint(runs), Platform: "apns"})
			if err := r.Start(t.Context()); err != nil {
				rt.Fatal(err)
			}
			return r
		}
		end := func(r *Registry) {
			if err := r.Close(); err != nil {
				rt.Fatal(err)
			}
		}
		r := start()
		defer func() { end(r) }()
		model := map[string]time.Time{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			i := rapid.IntRange(0, 7).Draw(rt, "device")
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				end(r)
				r = start()
			case 1:
				if n, err := r.Revive(t.Context(), Selection{Reason: "even"}, false); err != nil || n > 4 {
					rt.Fatalf("%d, %v", n, err)
				}
				for i := 0; i < 8; i += 2 {
					delete(model, token(i))
				}
			case 2, 3, 4:
				_, was := model[token(i)]
				if n, err := r.Revive(t.Context(), Selection{App: "news", Token: token(i)}, false); err != nil ||
					(n == 1) != was {
					rt.Fatalf("%d, %v", n, err)
				}
				delete(model, token(i))
			default:
				at := noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(rt, "second")) * time.Second)
				markAll(t, r, Death{App: "news", Token: token(i), Since: at, Reason: []string{"even", "odd"}[i%2]})
				if at.After(model[token(i)]) {
					model[token(i)] = at
				}
			}
			for i := range 8 {
				since, dead := r.Dead("news", "", token(i), time.Time{})
				if want, is := model[token(i)]; dead != is || dead && !since.Equal(want) {
					rt.Fatalf("%s: %v %v, want %v %v", token(i), dead, since, is, want)
				}
			}
		}
	})
}

// A death of which nothing is known but its token has a cause like others.
func TestADeathWithoutACauseIsReadAgain(t *testing.T) {
	h := open(t, t.TempDir())
	r := registry(t, h)
	markAll(t, r, Death{Token: token(1)})
	h, r = reopened(t, h, r)
	if !isDead(r, "", "", token(1)) {
		t.Error("it is alive after the restart")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	h.close(t)
}
