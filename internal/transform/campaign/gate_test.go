package campaign

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// at is a gate at an instant.
func at(t testing.TB, c Config, instant string) *gate {
	t.Helper()
	now, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGate(c, component.Env{}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// of is a message with attributes.
func of(attributes ...string) *message.Message {
	m := &message.Message{ID: message.NewID()}
	for i := 0; i < len(attributes); i += 2 {
		m.Attributes.Set(attributes[i], message.String(attributes[i+1]))
	}
	return m
}

// waits is how long a gate gives a message back for, again and again until it passes.
func (g *gate) waits(t *testing.T, m *message.Message) (wait time.Duration) {
	t.Helper()
	clock := g.clock
	defer func() { g.clock = clock }()
	for {
		passed := 0
		err := g.Transform(t.Context(), m, func(string, *message.Message) { passed++ })
		after, again := component.AsRetry(err)
		if (err == nil) != (passed == 1) || again && !(component.IsBack(err) && component.IsHold(err)) {
			t.Fatalf("%d have passed, with %v", passed, err)
		}
		if !again {
			return wait
		}
		wait += after
		g.clock = func() time.Time { return clock().Add(wait) }
	}
}

// TestAWrongClockDelaysNobodyForLong sets the clock back by a year, by mistake, while a message is looked at.
func TestAWrongClockDelaysNobodyForLong(t *testing.T) {
	m := of(campaign.Local, "2026-12-01T09:00")
	err := at(t, Config{}, "2025-12-01T08:00:00Z").Transform(t.Context(), m, nil)
	after, again := component.AsRetry(err)
	if !again || after > longestWait {
		t.Errorf("it waits %v, %v", after, err)
	}
	if right := at(t, Config{}, "2026-12-01T09:00:00Z").waits(t, m); right != 0 {
		t.Errorf("at its time it waits %v", right)
	}
}

func TestQuietHoursEndWhereTheUserIs(t *testing.T) {
	night := Config{TimeZone: "tz", DefaultZone: "Asia/Tokyo", Quiet: Quiet{From: "22:00", To: "08:00"}}
	early := Config{TimeZone: "tz", Quiet: Quiet{From: "01:00", To: "02:30"}}
	for _, c := range []struct {
		name, now, zone string
		config          Config
		want            time.Duration
	}{
		{"midday", "2026-11-23T03:00:00Z", "Asia/Tokyo", night, 0},
		{"evening", "2026-11-23T13:30:00Z", "Asia/Tokyo", night, 9*time.Hour + 30*time.Minute},
		{"the last second before", "2026-11-23T12:59:59Z", "Asia/Tokyo", night, 0},
		{"the first one", "2026-11-23T13:00:00Z", "Asia/Tokyo", night, 10 * time.Hour},
		{"after midnight", "2026-11-23T16:00:00Z", "Asia/Tokyo", night, 7 * time.Hour},
		{"the last one", "2026-11-23T22:59:59Z", "Asia/Tokyo", night, time.Second},
		{"over", "2026-11-23T23:00:00Z", "Asia/Tokyo", night, 0},
		{"elsewhere", "2026-11-23T13:30:00Z", "Europe/Paris", night, 0},
		{"half an hour apart", "2026-11-23T16:30:00Z", "Asia/Kolkata", night, 10 * time.Hour},
		{"not known", "2026-11-23T13:30:00Z", "Edo/Nihonbashi", night, 9*time.Hour + 30*time.Minute},
		{"the machine's", "2026-11-23T13:30:00Z", "Local", night, 9*time.Hour + 30*time.Minute},
		{"a path", "2026-11-23T13:30:00Z", "../../etc/passwd", night, 9*time.Hour + 30*time.Minute},
		{"none", "2026-11-23T13:30:00Z", "", night, 9*time.Hour + 30*time.Minute},
		// In the night to 29 March 2026 Paris skips the hour from 2 to 3; in that to 25 October it has it twice.
		{"a short night", "2026-03-28T21:30:00Z", "Europe/Paris", night, 8*time.Hour + 30*time.Minute},
		{"a long night", "2026-10-24T20:30:00Z", "Europe/Paris", night, 10*time.Hour + 30*time.Minute},
		{"an end that is skipped", "2026-03-29T00:15:00Z", "Europe/Paris", early, 45 * time.Minute},
		{"the end of a month", "2026-02-28T14:00:00Z", "Asia/Tokyo", night, 9 * time.Hour},
		{"the end of a year", "2026-12-31T14:00:00Z", "Asia/Tokyo", night, 9 * time.Hour},
	} {
		if got := at(t, c.config, c.now).waits(t, of("tz", c.zone)); got != c.want {
			t.Errorf("%s: waits %v, not %v", c.name, got, c.want)
		}
	}
	g := at(t, night, "2026-11-23T03:00:00Z")
	g.waits(t, of("tz", "Edo/Nihonbashi"))
	g.waits(t, of("tz", "Asia/Tokyo"))
	if n := g.Counts()["unknown time zone"]; n != 1 {
		t.Errorf("%d had no zone that is known", n)
	}
}

func TestEachUserGetsItAtTheirLocalTime(t *testing.T) {
	plain := Config{TimeZone: "tz", DefaultZone: "Asia/Tokyo"}
	night := Config{TimeZone: "tz", Quiet: Quiet{From: "22:00", To: "10:00"}}
	const now = "2026-12-01T00:30:00Z" // 9:30 in Tokyo, 1:30 in Paris
	for _, c := range []struct {
		zone   string
		config Config
		want   time.Duration
	}{
		{"Asia/Tokyo", plain, 0}, {"", plain, 0},
		{"Europe/Paris", plain, 7*time.Hour + 30*time.Minute},
		{"Europe/Paris", night, 8*time.Hour + 30*time.Minute},
		{"America/Los_Angeles", plain, 16*time.Hour + 30*time.Minute},
	} {
		m := of("tz", c.zone, campaign.Local, "2026-12-01T09:00", campaign.Attribute, "1")
		if got := at(t, c.config, now).waits(t, m); got != c.want {
			t.Errorf("%q: waits %v, not %v", c.zone, got, c.want)
		}
	}
	if got := at(t, plain, now).waits(t, of(campaign.Local, "tomorrow")); got != 0 {
		t.Errorf("a time that is none waits %v", got)
	}
}

// TestALocalTimeThatAClockSkipsOrHasTwiceComesOnceAndNotEarly: in 2026 clocks in Paris and Los Angeles are put forward
// on 29 and 8 March, from 2:00 to 3:00, and back on 25 October and 1 November, from 3:00 and from 2:00.
func TestALocalTimeThatAClockSkipsOrHasTwiceComesOnceAndNotEarly(t *testing.T) {
	for _, c := range []struct{ zone, local, want string }{
		{"Europe/Paris", "2026-03-29T02:30", "2026-03-29T01:00:00Z"},
		{"America/Los_Angeles", "2026-03-08T02:30", "2026-03-08T10:00:00Z"},
		{"Europe/Paris", "2026-03-29T01:59", "2026-03-29T00:59:00Z"},
		{"Europe/Paris", "2026-03-29T03:00", "2026-03-29T01:00:00Z"},
		{"America/Los_Angeles", "2026-03-08T03:00", "2026-03-08T10:00:00Z"},
		{"Europe/Paris", "2026-10-25T02:30", "2026-10-25T00:30:00Z"},
		{"America/Los_Angeles", "2026-11-01T01:30", "2026-11-01T08:30:00Z"},
		{"Europe/Paris", "2026-10-25T03:00", "2026-10-25T02:00:00Z"},
		{"Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30:00Z"}, // half an hour is skipped
		{"Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00Z"}, // and shown twice
		{"Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00:00Z"},        // a day that is skipped
		{"Asia/Tokyo", "2026-06-01T09:00", "2026-06-01T00:00:00Z"},
		{"UTC", "2026-06-01T09:00", "2026-06-01T09:00:00Z"},
	} {
		want, err := time.Parse(time.RFC3339, c.want)
		if err != nil {
			t.Fatal(err)
		}
		now := want.Add(-100 * time.Hour)
		g := at(t, Config{TimeZone: "tz"}, now.Format(time.RFC3339))
		if got := now.Add(g.waits(t, of("tz", c.zone, campaign.Local, c.local))); !got.Equal(want) {
			t.Errorf("%s in %s comes at %v, not %v", c.local, c.zone, got, want)
		}
	}
}

// FuzzLocalTimes: what waits for a local time comes when a clock there shows that or later for the first time.
func FuzzLocalTimes(f *testing.F) {
	f.Add(int64(1774746900), uint8(0))
	f.Add(int64(1792887300), uint8(3))
	names := []string{"Europe/Paris", "Australia/Lord_Howe", "America/Los_Angeles", "America/Havana", "Pacific/Apia",
		"UTC"}
	f.Fuzz(func(t *testing.T, unix int64, zone uint8) {
		place, err := load(names[int(zone)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		local := time.Unix(unix%4e9, 0).UTC().Format(campaign.LocalForm)
		due, err := first(local, place)
		if err != nil {
			t.Fatal(err)
		}
		if shown := due.Format(campaign.LocalForm); shown < local {
			t.Errorf("%s in %s comes at %v", local, place, due)
		}
		for before := due.Add(-time.Minute); due.Sub(before) < 3*time.Hour; before = before.Add(-time.Minute) {
			if before.Format(campaign.LocalForm) == local {
				t.Errorf("%s in %s comes at %v, and not at %v", local, place, due, before)
			}
		}
	})
}

func TestSettingsOfAGateAreChecked(t *testing.T) {
	for setting, c := range map[string]Config{
		"default_zone": {DefaultZone: "Edo"},
		"quiet.from":   {Quiet: Quiet{From: "late", To: "08:00"}},
		"quiet.to":     {Quiet: Quiet{From: "22:00"}},
	} {
		var wrong *component.SettingError
		if _, err := New(c, component.Env{}); !errors.As(err, &wrong) || wrong.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if _, err := New(Config{Quiet: Quiet{From: "22:00", To: "22:00"}}, component.Env{}); err == nil {
		t.Error("quiet hours without an end")
	}
}

// FuzzQuietHours: what has waited for the end of quiet hours is outside of them, and nothing outside of them has
// waited.
func FuzzQuietHours(f *testing.F) {
	f.Add(int64(1774746900), 60, 150, uint8(0))
	f.Add(int64(1792887300), 22*60, 8*60, uint8(3))
	names := []string{"Europe/Paris", "Australia/Lord_Howe", "Asia/Kolkata", "America/Havana", "Pacific/Apia", "UTC"}
	f.Fuzz(func(t *testing.T, unix int64, from, to int, zone uint8) {
		location, err := load(names[int(zone)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		h := hours{from: (from%1440 + 1440) % 1440, to: (to%1440 + 1440) % 1440}
		now := time.Unix(unix%(1<<33), 0).In(location)
		if h.from == h.to {
			return
		}
		end := h.end(now)
		if h.within(end) || end.Before(now) || end.Sub(now) > 50*time.Hour || !h.within(now) && !end.Equal(now) {
			t.Errorf("%v, quiet %v: until %v", now, h, end)
		}
	})
}

func BenchmarkGate(b *testing.B) {
	g := at(b, Config{}, "2026-11-23T03:00:00Z")
	m, emit := of(campaign.Attribute, "1x1nvpkdm3t0", "token", "aa"), func(string, *message.Message) {}
	for b.Loop() {
		if err := g.Transform(context.Background(), m, emit); err != nil {
			b.Fatal(err)
		}
	}
}
