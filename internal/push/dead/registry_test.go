package dead

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var feedback = queue.Name{Namespace: "default", Name: "gone"}

// house is a store in a folder that can be opened again.
type house struct {
	dir     string
	journal *journalfile.Journal
	store   *queue.Store
}

func open(t *testing.T, dir string) *house {
	t.Helper()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: dir, Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	return &house{dir, j, s}
}

func (h *house) close(t *testing.T) {
	t.Helper()
	if err := errors.Join(h.store.Close(), h.journal.Close()); err != nil {
		t.Fatal(err)
	}
}

func registry(t *testing.T, h *house) *Registry {
	t.Helper()
	r := New(Config{Store: h.store, Room: "phones", Platform: "apns", Feedback: feedback})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// markAll marks deaths and waits until they are durable.
func markAll(t *testing.T, r *Registry, deaths ...Death) {
	t.Helper()
	var wg sync.WaitGroup
	for _, d := range deaths {
		wg.Add(1)
		r.Mark(d, func(err error) {
			defer wg.Done()
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func token(i int) string { return fmt.Sprintf("token-%d", i) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestTheDeadAreRememberedAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	r := registry(t, h)
	const n = 20_000
	for i := range n / 100 { // many small groups, and so many notes that are merged
		var some []Death
		for j := range 100 {
			some = append(some, Death{App: "news", Token: token(100*i + j), Since: noon, Reason: "Unregistered"})
		}
		markAll(t, r, some...)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	notes := must(h.store.Notes(t.Context(), "push/dead/phones"))
	if len(notes) > 3*mergeNotes {
		t.Errorf("%d devices take %d notes", n, len(notes))
	}
	h.close(t)

	h = open(t, dir)
	defer h.close(t)
	r = registry(t, h)
	defer r.Close()
	if r.Len() != n {
		t.Errorf("%d are remembered, want %d", r.Len(), n)
	}
	for i := range n {
		if since, dead := r.Dead("news", "", token(i), time.Time{}); !dead || !since.Equal(noon) {
			t.Fatalf("%s: %v, %v", token(i), since, dead)
		}
	}
	for _, other := range [][2]string{{"news", "token-x"}, {"weather", token(1)}} {
		if _, dead := r.Dead(other[0], "", other[1], time.Time{}); dead {
			t.Errorf("%v was never dead", other)
		}
	}
}

func TestADeviceThatRegistersAgainIsAlive(t *testing.T) {
	h := open(t, t.TempDir())
	defer h.close(t)
	r := registry(t, h)
	defer r.Close()
	markAll(t, r, Death{App: "news", Token: "a", Since: noon})
	for registered, want := range map[time.Time]bool{
		{}: true, noon.Add(-time.Hour): true, noon: true, noon.Add(time.Second): false,
	} {
		if _, dead := r.Dead("news", "", "a", registered); dead != want {
			t.Errorf("registered %v: dead is %v", registered, dead)
		}
	}
	markAll(t, r, Death{App: "news", Token: "a", Since: noon.Add(time.Hour)}) // and dies again
	if _, dead := r.Dead("news", "", "a", noon.Add(time.Minute)); !dead {
		t.Error("its second death is forgotten")
	}
}

func TestEachDeathIsReportedOnce(t *testing.T) {
	h := open(t, t.TempDir())
	defer h.close(t)
	r := registry(t, h)
	defer r.Close()
	id := message.NewID()
	d := Death{App: "news", Token: "a", Since: noon, Reason: "BadDeviceToken", Message: id}
	markAll(t, r, d, d)
	markAll(t, r, d)
	got, err := h.store.Peek(t.Context(), feedback, queue.PeekRequest{})
	if err != nil || len(got) != 1 || r.Reported() != 1 {
		t.Fatalf("%d reports, %v", len(got), err)
	}
	var report Report
	if err := json.Unmarshal(got[0].Message.Body, &report); err != nil {
		t.Fatal(err)
	}
	if want := (Report{Platform: "apns", App: "news", Token: "a", State: Gone, Reason: "BadDeviceToken", Since: noon,
		Message: id.String()}); report != want {
		t.Errorf("got %+v, want %+v", report, want)
	}
	if v, _ := got[0].Message.Attributes.Get("reason"); v.Text() != "BadDeviceToken" {
		t.Errorf("the reason's attribute is %v", v)
	}
}

func TestADeathThatCannotBeReportedIsNotRemembered(t *testing.T) {
	h := open(t, t.TempDir())
	defer h.close(t)
	if _, err := h.store.CreateQueue(t.Context(), feedback, queue.Definition{MaxMessages: 1}); err != nil {
		t.Fatal(err)
	}
	r := registry(t, h)
	defer r.Close()
	markAll(t, r, Death{App: "news", Token: "a"})
	told := make(chan error, 1)
	r.Mark(Death{App: "news", Token: "b"}, func(err error) { told <- err })
	if err := <-told; !errors.Is(err, queue.ErrQueueFull) {
		t.Errorf("told %v", err)
	}
	refusal, outcomes := errors.New("410 Unregistered"), make(chan component.Outcome, 1)
	reject := func() component.Outcome {
		r.Reject(Death{App: "news", Token: "b"}, refusal, func(o component.Outcome) { outcomes <- o })
		return <-outcomes
	}
	if o := reject(); o.Verdict != component.Retry || !errors.Is(o.Reason, refusal) ||
		!errors.Is(o.Reason, queue.ErrQueueFull) {
		t.Errorf("the message that found it: %+v", o)
	}
	if _, dead := r.Dead("news", "", "b", time.Time{}); dead {
		t.Error("it counts as dead, and nobody was told")
	}
	if _, err := h.store.Purge(t.Context(), feedback); err != nil {
		t.Fatal(err)
	}
	if o := reject(); o.Verdict != component.Rejected || o.Reason != refusal {
		t.Errorf("when there is room: %+v", o)
	}
	if _, dead := r.Dead("news", "", "b", time.Time{}); !dead {
		t.Error("it was forgotten")
	}
}

func TestWhatDiedLongAgoIsTriedAgainAndForgotten(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	now := noon
	c := Config{Store: h.store, Room: "phones", Memory: 24 * time.Hour,
		Clock: func() time.Time { return now }}
	r := New(c)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var some []Death
	for i := range 2 * noteEntries {
		some = append(some, Death{App: "news", Token: token(i)})
	}
	markAll(t, r, some...)
	now = now.Add(23 * time.Hour)
	if _, dead := r.Dead("news", "", token(0), time.Time{}); !dead {
		t.Error("forgotten too early")
	}
	now = now.Add(2 * time.Hour)
	if _, dead := r.Dead("news", "", token(0), time.Time{}); dead {
		t.Error("never forgotten")
	}
	markAll(t, r, Death{App: "news", Token: "late"})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = New(c)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer h.close(t)
	defer r.Close()
	if n := len(must(h.store.Notes(t.Context(), "push/dead/phones"))); r.Len() != 1 || n != 2 { // a page and a cause
		t.Errorf("%d devices in %d notes are left", r.Len(), n)
	}
	markAll(t, r, Death{App: "news", Token: "later"})
	if r.Len() != 2 {
		t.Errorf("%d devices", r.Len())
	}
}

func TestADamagedNoteStopsTheStart(t *testing.T) {
	h := open(t, t.TempDir())
	defer h.close(t)
	for key, value := range map[string]string{
		"0000000000000001": "short", "x": "123456789012", "1": "123456789012", "p0000000000000001": "12345678901234",
		"p1":    "",
		"w0000": `{"app":"news"}`, "w1": `{"app":"news"}`, "w0001": `{"app":1}`,
	} {
		if err := h.store.SetNotes(t.Context(),
			queue.Note{Room: "push/dead/phones", Key: key, Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
		if err := New(Config{Store: h.store, Room: "phones"}).Start(t.Context()); err == nil {
			t.Errorf("note %q passed", key)
		}
		if err := h.store.SetNotes(t.Context(), queue.Note{Room: "push/dead/phones", Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	if err := New(Config{Room: "phones"}).Start(t.Context()); !errors.Is(err, ErrNoStore) {
		t.Errorf("without a store: %v", err)
	}
}

// must is the value of what does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
