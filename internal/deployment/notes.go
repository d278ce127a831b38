package deployment

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// room is where the store keeps what is known of functions.
const room = "functions"

// Keys of notes: function/NAME, version/NAME/NUMBER, mapping/ID.
const (
	functionKey = "function/"
	versionKey  = "version/"
	mappingKey  = "mapping/"
)

// load reads everything.
func load(store *queue.Store) (map[string]*Function, []Mapping, error) {
	all := map[string]*Function{}
	var mappings []Mapping
	var versions []queue.Note
	for _, n := range store.Notes(room) {
		damaged := func(err error) error {
			return fmt.Errorf("what the store knows of %s cannot be read: %w", n.Key, err)
		}
		switch {
		case strings.HasPrefix(n.Key, functionKey):
			f := &Function{versions: map[string]Version{}}
			if err := json.Unmarshal(n.Value, f); err != nil {
				return nil, nil, damaged(err)
			}
			all[f.Name] = f
		case strings.HasPrefix(n.Key, mappingKey):
			var m Mapping
			if err := json.Unmarshal(n.Value, &m); err != nil {
				return nil, nil, damaged(err)
			}
			mappings = append(mappings, m)
		case strings.HasPrefix(n.Key, versionKey):
			versions = append(versions, n)
		}
	}
	for _, n := range versions {
		name, _, _ := strings.Cut(strings.TrimPrefix(n.Key, versionKey), "/")
		var v Version
		if err := json.Unmarshal(n.Value, &v); err != nil {
			return nil, nil, fmt.Errorf("what the store knows of %s cannot be read: %w", n.Key, err)
		}
		if f := all[name]; f != nil {
			f.versions[v.Number] = v
		}
	}
	return all, mappings, nil
}

// note is a value as a note.
func note(key string, value any) (queue.Note, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return queue.Note{}, fmt.Errorf("keep %s: %w", key, err)
	}
	if len(text) > queue.MaxNoteBytes {
		return queue.Note{}, invalid("the settings take %d bytes, at most %d are possible", len(text), queue.MaxNoteBytes)
	}
	return queue.Note{Room: room, Key: key, Value: text}, nil
}

// keep makes f what is known of its function, durably, with other notes of the same moment. The caller holds r.change.
func (r *Registry) keep(ctx context.Context, f *Function, others ...queue.Note) error {
	n, err := note(functionKey+f.Name, f)
	if err != nil {
		return err
	}
	if err := r.store.SetNotes(ctx, append(others, n)...); err != nil {
		return fmt.Errorf("keep function %s: %w", f.Name, err)
	}
	r.mu.Lock()
	r.all[f.Name] = f
	r.mu.Unlock()
	return nil
}

// copyOf is a function that may be changed.
func copyOf(f *Function) (*Function, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", f.Name, err)
	}
	c := &Function{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("function %s: %w", f.Name, err)
	}
	c.versions = map[string]Version{}
	for number, v := range f.versions {
		c.versions[number] = v
	}
	return c, nil
}
