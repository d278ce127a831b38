package filter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/filter"
)

func mustNew(t rapid.TB, where string) component.Transform {
	t.Helper()
	tr, err := filter.New(filter.Config{Where: where}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// passes tells whether the filter lets the message through, and that it stays as it is.
func passes(t rapid.TB, tr component.Transform, m *message.Message) bool {
	t.Helper()
	n := 0
	err := tr.Transform(context.Background(), m, func(port string, out *message.Message) {
		n++
		if port != "" || string(out.Body) != string(m.Body) || out.ID != m.ID {
			t.Errorf("the message was changed on its way to port %q", port)
		}
	})
	if err != nil || n > 1 {
		t.Errorf("%d messages, %v", n, err)
	}
	return n == 1
}

func TestOnlyWhatMatchesPasses(t *testing.T) {
	m := &message.Message{ID: message.NewID(), Key: "user-7", Body: []byte(`{"level":4,"user":{"country":"jp"}}`)}
	m.Attributes.Set("lang", message.String("ja"))
	for where, want := range map[string]bool{
		"true":                               true,
		"false":                              false,
		"null":                               false,
		"level >= 4 and user.country = 'jp'": true,
		"level > 4":                          false,
		"lang in ('ja', 'ko')":               true,
		"key like 'user-%'":                  true,
		"no_such_name = 1":                   false,
		"no_such_name is null":               true,
	} {
		if got := passes(t, mustNew(t, where), m); got != want {
			t.Errorf("%s: %v, want %v", where, got, want)
		}
	}
}

func TestAFilterAndItsOppositePartTheMessages(t *testing.T) {
	high, low := mustNew(t, "level >= 10"), mustNew(t, "not level >= 10")
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.Int64().Draw(t, "level")
		m := &message.Message{}
		if rapid.Bool().Draw(t, "in the body") {
			m.Body = fmt.Appendf(nil, `{"level": %d}`, level)
		} else {
			m.Attributes.Set("level", message.Int(level))
		}
		if a, b := passes(t, high, m), passes(t, low, m); a != (level >= 10) || a == b {
			t.Fatalf("level %d: %v and %v", level, a, b)
		}
	})
}

func TestABrokenConditionIsShownInItsPlace(t *testing.T) {
	for where, offset := range map[string]int{"level >= ": 9, "": 0, "level >= 3 andd lang = 'ja'": 11} {
		_, err := filter.New(filter.Config{Where: where}, component.Env{})
		var e *component.SettingError
		var bad *condition.Error
		if !errors.As(err, &e) || e.Setting != "where" || e.Offset != offset || !errors.As(err, &bad) {
			t.Errorf("%q: got %+v, want an error at byte %d", where, err, offset)
		}
	}
}

func TestOneTransformServesManyGoroutines(t *testing.T) {
	tr := mustNew(t, "n < 50 and kind = 'a'")
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for i := range 100 {
				m := &message.Message{Body: fmt.Appendf(nil, `{"n":%d,"kind":"a"}`, i)}
				if passes(t, tr, m) != (i < 50) {
					t.Errorf("%d went the wrong way", i)
				}
			}
		})
	}
	work.Wait()
}

func Example() {
	urgent, err := filter.New(filter.Config{Where: "priority >= 3 and user.country = 'jp'"}, component.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{`{"priority":5,"user":{"country":"jp"}}`, `{"priority":1,"user":{"country":"jp"}}`} {
		err := urgent.Transform(context.Background(), &message.Message{Body: []byte(body)},
			func(_ string, out *message.Message) {
				fmt.Printf("%s\n", out.Body)
			})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {"priority":5,"user":{"country":"jp"}}
}
