package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// room is where campaigns are kept: a definition under its id, what became of its messages under "ID counts", and how
// far each fanout is under "ID run NAME".
const room = "campaign"

const (
	countsKey = " counts"
	runKey    = " run "
)

// definition is what is kept of a campaign for as long as it is remembered.
type definition struct {
	Name    string    `json:"name,omitempty"`
	Key     string    `json:"key,omitempty"`
	Hash    []byte    `json:"hash,omitempty"` // of what was ordered, to know a key's campaign again
	Queue   string    `json:"queue"`
	Body    []byte    `json:"body,omitempty"`
	State   State     `json:"state"`
	Started time.Time `json:"started"`
	Due     time.Time `json:"due,omitzero"`
	Local   string    `json:"local,omitempty"`
	Rows    int       `json:"rows,omitempty"`
	Ended   time.Time `json:"ended,omitzero"`
}

// counts is the value of a counts note.
type counts struct {
	Sent      uint64    `json:"sent,omitempty"`
	Refused   uint64    `json:"refused,omitempty"`
	Dropped   uint64    `json:"dropped,omitempty"`
	Cancelled uint64    `json:"cancelled,omitempty"`
	Capped    uint64    `json:"capped,omitempty"`
	First     time.Time `json:"first,omitzero"`
	Last      time.Time `json:"last,omitzero"`
	Reasons   []Reason  `json:"reasons,omitempty"`
}

// run is how far one fanout is.
type run struct {
	Made uint64 `json:"made"`
	Over bool   `json:"over,omitempty"`
}

// noteOf makes a note. The values always have a form.
func noteOf(key string, value any) queue.Note {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return queue.Note{Room: room, Key: key, Value: text}
}

// load reads what was kept.
func (r *Registry) load(ctx context.Context) error {
	notes, err := r.store.Notes(ctx, room)
	if err != nil {
		return fmt.Errorf("read what is remembered of campaigns: %w", err)
	}
	for _, n := range notes {
		if strings.Contains(n.Key, " ") {
			continue
		}
		c := &campaign{id: n.Key, runs: map[string]run{}}
		if err := json.Unmarshal(n.Value, &c.def); err != nil {
			return fmt.Errorf("the note about campaign %s cannot be read: %w", n.Key, err)
		}
		r.all[c.id] = c
		if c.def.Key != "" {
			r.byKey[c.def.Queue+" "+c.def.Key] = c
		}
	}
	for _, n := range notes {
		id, kind, of := strings.Cut(n.Key, " ")
		c := r.all[id]
		if !of || c == nil {
			continue
		}
		var err error
		if name, isRun := strings.CutPrefix(" "+kind, runKey); isRun {
			var one run
			err = json.Unmarshal(n.Value, &one)
			c.runs[name] = one
		} else if " "+kind == countsKey {
			err = json.Unmarshal(n.Value, &c.tally.counts)
		}
		if err != nil {
			return fmt.Errorf("the note %q about a campaign cannot be read: %w", n.Key, err)
		}
	}
	return nil
}
