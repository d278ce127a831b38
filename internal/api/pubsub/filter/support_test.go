package filter_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/filter"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// attributes are those of a message; a condition sees what is not there as null.
type attributes map[string]string

func (a attributes) Lookup(name string) message.Value {
	v, ok := a[name]
	if !ok {
		return message.Null()
	}
	return message.String(v)
}

// compiled is the condition of a filter, as a queue evaluates it.
func compiled(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) *condition.Expr {
	t.Helper()
	f, err := filter.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	e, err := condition.Parse(f.Condition(nil))
	if err != nil {
		t.Fatalf("%s became %s: %v", text, f.Condition(nil), err)
	}
	return e
}

func check(t *testing.T, text string, on attributes, want bool) {
	t.Helper()
	if got := compiled(t, text).Match(on); got != want {
		t.Errorf("%s lets %v through: %v, wanted %v", text, on, got, want)
	}
}
