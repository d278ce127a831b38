package attribute

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestInstantsAreReadInEveryForm(t *testing.T) {
	want := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, v := range []message.Value{
		message.Int(want.Unix()), message.String("1795341600"), message.Float(1795341600),
		message.String("2026-11-22T10:00:00Z"),
		message.String("2026-11-22T19:00:00+09:00"),
	} {
		if at, err := Instant(v); err != nil || !at.Equal(want) {
			t.Errorf("%s: %v, %v", v.Text(), at, err)
		}
	}
	for _, text := range []string{"", "soon", "-1", "NaN", "1795341600000", "2026-11-22"} {
		if at, err := Instant(message.String(text)); err == nil {
			t.Errorf("%q was read as %v", text, at)
		}
	}
}

func FuzzInstant(f *testing.F) {
	for _, text := range []string{"0", "1.7e9", "2026-11-22T10:00:00.5+09:00", "-1", "1e300", "now"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := Instant(message.String(text)); err == nil && at.Unix() > latest {
			t.Errorf("%q became %v", text, at)
		}
	})
}
