package collapse_test

import (
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var outbox = queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"}

// newStore opens a store, which the test's end closes.
func newStore(t testing.TB) *queue.Store {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: t.TempDir(), Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(errors.Join(err, j.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// with makes a message of names and values of attributes.
func with(attributes ...string) *message.Message {
	m := &message.Message{ID: message.NewID(), Body: []byte("{}")}
	for i := 0; i+1 < len(attributes); i += 2 {
		m.Attributes.Set(attributes[i], message.String(attributes[i+1]))
	}
	return m
}
