package campaign

import (
	"context"
	"testing"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// notes is a store that has nothing else.
type notes struct {
	Store
	list []queue.Note
}

func (n notes) Notes(context.Context, string) ([]queue.Note, error) { return n.list, nil }

// FuzzNotes reads any notes: the start goes on with what they say, or is refused with the note's name.
func FuzzNotes(f *testing.F) {
	f.Add("0a1b", []byte(`{"queue":"news","key":"k","state":"running","started":"2020-01-01T00:00:00Z","rows":3}`),
		"0a1b counts", []byte(`{"sent":3,"reasons":[{"reason":"gone","count":1}]}`),
		"0a1b run users", []byte(`{"made":18446744073709551615,"over":true}`))
	f.Add("x", []byte(`{"state":"paused"}`), "x run ", []byte(`{}`), "y counts", []byte(`null`))
	f.Add("", []byte(`[]`), " ", []byte(``), "x", []byte(`{"due":"no time"}`))
	f.Fuzz(func(t *testing.T, a string, x []byte, b string, y []byte, c string, z []byte) {
		r := &Registry{all: map[string]*campaign{}, byKey: map[string]*campaign{},
			store: notes{list: []queue.Note{{Key: a, Value: x}, {Key: b, Value: y}, {Key: c, Value: z}}}}
		if r.load(t.Context()) != nil {
			return
		}
		r.publish()
		for id, c := range r.all {
			if c.id != id || c.runs == nil {
				t.Errorf("%q: %+v", id, c)
			}
			_ = noteOf(id, c.def) // what was read has a form again
			_ = noteOf(id, c.tally.counts)
		}
	})
}
