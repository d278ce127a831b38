package campaign

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/metricstest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// capping starts a gate with a cap over a store of its own.
func capping(t *testing.T, c Config, now *time.Time) *capped {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: t.TempDir(), Durability: journal.None})
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGate(c, component.Env{}, func() time.Time { return *now })
	if err != nil {
		t.Fatal(err)
	}
	made := newCapped(g, c.Cap, component.Env{Name: "gate", Store: store})
	if err := made.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(made.Close(), store.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	return made
}

// pass gives messages to a gate and says which have passed: "+", were settled: "-", or came back: "<".
func (c *capped) pass(t *testing.T, ms ...*message.Message) string {
	t.Helper()
	said := []byte(strings.Repeat("-", len(ms)))
	errs := c.TransformGroup(t.Context(), ms, func(i int, _ string, m *message.Message) {
		if m != ms[i] {
			t.Error("it is another message")
		}
		said[i] = '+'
	})
	for i, err := range errs {
		if err != nil {
			if !component.IsHold(err) {
				t.Errorf("message %d: %v", i, err)
			}
			said[i] = '<'
		}
	}
	return string(said)
}

func TestAUserIsToldAsOftenAsIsAllowed(t *testing.T) {
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	c := capping(t, Config{Cap: Cap{Of: "user", Most: 2, Within: time.Hour}}, &now)
	a := func() *message.Message { return of("user", "a") }
	number := func() *message.Message {
		m := of()
		m.Attributes.Set("user", message.Int(7))
		return m
	}
	column := func() *message.Message {
		m := of()
		m.Body = []byte(`{"user": 7, "text": "hello"}`)
		return m
	}
	first, second := a(), a()
	for _, step := range []struct{ why, got, want string }{
		{"two of three", c.pass(t, first, of("user", "b"), second, a()), "+++-"},
		{"one that comes again", c.pass(t, second), "+"},
		{"a number, a column and one too many", c.pass(t, number(), column(), column()), "++-"},
		{"nobody knows whose", c.pass(t, of(), of(), of(), of("user", "")), "++++"},
		{"one more", c.pass(t, a()), "-"},
	} {
		if step.got != step.want {
			t.Errorf("%s: %s, not %s", step.why, step.got, step.want)
		}
	}
	refused := component.Reject(errors.New("Unregistered"))
	c.Heard(first, &refused, true)
	if got := c.pass(t, a(), a()); got != "+-" {
		t.Errorf("one was refused, and does not count: %s", got)
	}
	maybe := component.Reject(component.ErrMayDouble)
	c.Heard(second, &maybe, true)
	if got := c.pass(t, a()); got != "-" {
		t.Errorf("one whose answer was lost may have come: %s", got)
	}
	delivered := component.OK(now)
	c.Heard(of("user", "c"), &delivered, false) // it came another way
	if got := c.pass(t, of("user", "c"), of("user", "c"), of("user", "c")); got != "++-" {
		t.Errorf("what came another way: %s", got)
	}
	if n := c.Counts(); n["capped"] != 6 || n["no user"] != 4 || n["forgotten too early"] != 0 {
		t.Errorf("%v", n)
	}
	if n := metricstest.Of(t, NewCollector(func() map[string]Capper {
		return map[string]Capper{"gate": c}
	}))["hikyaku_cap_capped_total gate"]; n != 6 {
		t.Errorf("%v are shown", n)
	}
}

// TestQuietHoursTakeNothingFromTheCap: what is given back has not been told.
func TestQuietHoursTakeNothingFromTheCap(t *testing.T) {
	now := time.Date(2026, 12, 1, 23, 0, 0, 0, time.UTC)
	c := capping(t, Config{Quiet: Quiet{From: "22:00", To: "08:00"},
		Cap: Cap{Of: "user", Most: 1, Within: time.Hour}}, &now)
	m, other := of("user", "a"), of("user", "a")
	if got := c.pass(t, m, other); got != "<<" {
		t.Errorf("at night: %s", got)
	}
	now = now.Add(10 * time.Hour)
	if got := c.pass(t, m, other); got != "+-" {
		t.Errorf("in the morning: %s", got)
	}
}

func TestSettingsOfACapAreChecked(t *testing.T) {
	for setting, c := range map[string]Cap{
		"cap.of":     {Most: 1, Within: time.Hour},
		"cap.most":   {Of: "user", Within: time.Hour},
		"cap.within": {Of: "user", Most: 1},
	} {
		var wrong *component.SettingError
		if _, err := New(Config{Cap: c}, component.Env{}); !errors.As(err, &wrong) || wrong.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
