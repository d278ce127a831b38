package codec_test

import (
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

func expr(t testing.TB, text string) *condition.Expr {
	t.Helper()
	e, err := condition.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestNamesAreAttributesThenFieldsThenBuiltIn(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	id, err := message.ParseID("0190b0a0-0000-7000-8000-000000000001")
	if err != nil {
		t.Fatal(err)
	}
	m := &message.Message{ID: id, Key: "k1", Time: at,
		Body: []byte(`{"level": 3, "lang": "body", "user": {"id": 12345678901234567890, "tags": ["a"]}, ` +
			`"nothing": null, "key": {"a": 1}, "big": 1e999, "a.b": "dotted", "twice": 1, "twice": 2}`)}
	m.Attributes.Set("lang", message.String("ja"))
	m.Attributes.Set("gone", message.Null())
	for text, want := range map[string]bool{
		`lang = 'ja'`:                    true,  // the attribute hides the field
		`level >= 3`:                     true,  // a field
		`level >= 3 and lang = 'ja'`:     true,  // both
		`user.id = 12345678901234567890`: true,  // exact
		`user.id = 12345678901234567891`: false, // exact
		`user.tags is null`:              true,  // no scalar
		`user is null`:                   true,
		`nothing is null`:                true,
		`gone is null`:                   true,
		`missing is null`:                true,
		`missing = 1`:                    false,
		`not missing = 1`:                false, // three-valued
		`big is null`:                    true,
		`a.b = 'dotted'`:                 true,
		`twice = 2`:                      true,
		`key is null`:                    true, // the body's field hides the built-in name
		`id like '0190b0a0-%'`:           true,
		`time >= timestamp '2026-01-02 03:04:05' and enqueued_at < 1767323046`: true,
	} {
		if got := codec.NewMatcher(expr(t, text)).Subject(m).Match(0); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestBodiesThatAreNoObjectsHaveNoFields(t *testing.T) {
	for _, body := range []string{"", "   ", "hello", "[1]", `{"a": 1`, `{"a": 1} x`, `{"a": 1, "b": "` + "\xff" + `"}`,
		"7"} {
		m := &message.Message{Body: []byte(body), Key: "k"}
		s := codec.NewMatcher(expr(t, "a is null"), expr(t, "key = 'k'"), expr(t, "id is null and time is null"),
			expr(t, "char_length(body) >= 0")).Subject(m)
		for i := range 4 {
			if !s.Match(i) {
				t.Errorf("%q: condition %d does not match", body, i)
			}
		}
	}
}

func TestMatcherDoesNotReadTheBodyForAttributes(t *testing.T) {
	m := &message.Message{Body: []byte(`{"other": 1}`)}
	m.Attributes.Set("level", message.Int(3))
	matcher := codec.NewMatcher(expr(t, "level >= 3"))
	if n := testing.AllocsPerRun(100, func() { matcher.Subject(m).Match(0) }); n > 1 {
		t.Errorf("%v allocations, want at most the Subject", n)
	}
}

func TestTheBodyIsReadOnceForAllConditions(t *testing.T) {
	m := &message.Message{Body: []byte(`{"a": "x", "b": "y"}`)}
	matcher := codec.NewMatcher(expr(t, "a = 'x'"), expr(t, "b = 'y'"), expr(t, "a = 'z' or b = 'z'"))
	once := testing.AllocsPerRun(100, func() { matcher.Subject(m).Match(0) })
	all := testing.AllocsPerRun(100, func() {
		s := matcher.Subject(m)
		for i := range 3 {
			s.Match(i)
		}
	})
	if all > once {
		t.Errorf("%v allocations for three conditions, %v for one", all, once)
	}
}

func TestOneMatcherServesManyGoroutines(t *testing.T) {
	matcher := codec.NewMatcher(expr(t, "a = 1"), expr(t, "b.c = 'x'"), expr(t, "a = 2"))
	m := &message.Message{Body: []byte(`{"a": 1, "b": {"c": "x"}}`)}
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 100 {
				s := matcher.Subject(m)
				if !s.Match(0) || !s.Match(1) || s.Match(2) {
					t.Error("a wrong match")
					return
				}
			}
		})
	}
	work.Wait()
}

func FuzzMatcher(f *testing.F) {
	for _, c := range decodeCases {
		f.Add([]byte(c.in))
	}
	matcher := codec.NewMatcher(expr(f, "a = 1 or user.id > 2 or key = 'x'"), expr(f, "a.b like '%x%'"))
	f.Fuzz(func(t *testing.T, body []byte) {
		s := matcher.Subject(&message.Message{Body: body})
		for i := range 2 {
			if once, again := s.Match(i), s.Match(i); once != again {
				t.Fatal("a condition changed its mind")
			}
		}
	})
}
