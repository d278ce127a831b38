package campaign

import (
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Of is the id of the campaign that a message belongs to; "": none that is known.
func (r *Registry) Of(m *message.Message) string {
	if r == nil {
		return ""
	}
	v, ok := m.Attributes.Get(Attribute)
	if !ok || v.Kind() != message.KindString || (*r.counted.Load())[v.AsString()] == nil {
		return ""
	}
	return v.AsString()
}

// Progress is how far a fanout would be with so many more messages made, as a note for the change that makes them
// durable: commit is called when that has happened. A run keeps its name when it is tried again. ok is false for a
// campaign that is not known, or has too many runs.
func (r *Registry) Progress(id, name string, more int, over bool) (note queue.Note, commit func(), ok bool) {
	if r == nil {
		return note, nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.all[id]
	if c == nil {
		return note, nil, false
	}
	now, begun := c.runs[name]
	if !begun && len(c.runs) >= mostRuns {
		return note, nil, false
	}
	now.Made += uint64(more)
	now.Over = over
	commit = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		c.runs[name], c.problem = now, ""
	}
	return noteOf(id+runKey+name, now), commit, true
}

// Trouble notes why a fanout cannot go on. It is shown until it does.
func (r *Registry) Trouble(id string, err error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.all[id]; c != nil {
		c.problem = cut(err.Error(), mostProblem)
	}
}
