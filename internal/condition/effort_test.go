package condition

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestTheEffortOfAConditionGrowsWithWhatItReads(t *testing.T) {
	effort := func(text string, bytes int) int {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		b := e.Bind(func(string) (slot int, ok bool) { return 0, true })
		if e.Effort() != b.Effort() {
			t.Errorf("%s: %v, and bound %v", text, e.Effort(), b.Effort())
		}
		return e.Effort().On(bytes)
	}
	const little, much = 100, 64 << 10
	for _, x := range [][2]string{
		{"a = 1", "a = 1 or b = 1"},
		{"a = 1", "a in (1, 2, 3)"},
		{"a like '%x%'", "a like '%x_y%'"},
		{"a like '%x_y%'", "a like b"},
		{"a = 'x'", "lower(a) = 'x'"},
		{"a like '%x_y%'", "a like '%x_" + strings.Repeat("y", 500) + "%'"},
		{"a like '%x_y%'", "a like '%x_y%x_y%'"},
	} {
		if less, more := effort(x[0], much), effort(x[1], much); less >= more {
			t.Errorf("%s: %d steps, %s: %d", x[0], less, x[1], more)
		}
	}
	many := "a like '%x_y%'" + strings.Repeat(" or a like '%x_y%'", 999)
	if one, all := effort("a like '%x_y%'", much), effort(many, much); all < 1000*one {
		t.Errorf("%d steps, a thousand of it %d", one, all)
	}
	for _, text := range []string{"lang = 'ja' and n > 3", "lang in ('ja', 'en') and title like '%x%'",
		"n % 1000000 = 999999", "enqueued_at >= 1501686146 and lang = 'ja'"} {
		if n := effort(text, little); n > 100 {
			t.Errorf("%s: %d steps for a small message", text, n)
		}
	}
	if n := effort("a = 'x'", 0); n < 1 {
		t.Errorf("%d steps for a message that has nothing", n)
	}
}

// BenchmarkStep tells what a step of the estimate takes with values that are made to take long: the estimate holds
// where it is some ten nanoseconds or less.
func BenchmarkStep(b *testing.B) {
	const bytes = 64 << 10
	long := func(piece string) string { return strings.Repeat(piece, bytes/len(piece)) }
	for _, x := range []struct{ name, text, value string }{
		{"like with a gap", "a like '%x_y%'", long("x")},
		{"like with many gaps", "a like '%x_x_x_x_x_y%'", long("x")},
		{"long like with gaps", "a like '%x_" + strings.Repeat("x", 500) + "y%'", long("x")},
		{"like of two pieces", "a like '%xxxxxxxy%xxxxxxy%'", long("x")},
		{"like by a value", "a like b", long("x")},
		{"like of other alphabets", "a like '%ß_é%'", long("ß")},
		{"lower", "lower(a) = 'x'", long("İ")},
		{"upper", "upper(a) = 'x'", long("ŉ")},
		{"length", "length(a) = 7", long("あ")},
		{"number", "a = 7", long("1")},
		{"time", "a > enqueued_at", long("2")},
		{"in", "a in (1, 2, 3, 'x', 'y')", long("1")},
		{"name", "a is null", long("x")},
	} {
		e, err := Parse(x.text)
		if err != nil {
			b.Fatal(x.name, err)
		}
		env := fewNames{"a": message.String(x.value), "b": message.String(strings.Repeat("%x_", 2000) + "y"),
			"enqueued_at": message.Time(time.Now())}
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				e.Match(env)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*e.Effort().On(bytes)), "ns/step")
		})
	}
}
