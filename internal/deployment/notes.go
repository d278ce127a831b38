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

// Keys of notes: function/NAME, version/NAME/NUMBER, mapping/ID, layer/NAME, layerversion/NAME/NUMBER, codesigning/ID.
const (
	functionKey = "function/"
	versionKey  = "version/"
	mappingKey  = "mapping/"

	layerKey        = "layer/"
	layerVersionKey = "layerversion/"

	signingKey = "codesigning/"
)

// known is all that the store knows of functions.
type known struct {
	functions map[string]*Function
	layers    map[string]*Layer
	mappings  []Mapping
	signings  map[string]Signing
}

// load reads everything.
func load(ctx context.Context, store queue.Noting) (known, error) {
	k := known{functions: map[string]*Function{}, layers: map[string]*Layer{},
		signings: map[string]Signing{}}
	notes, err := store.Notes(ctx, room)
	if err != nil {
		return k, fmt.Errorf("read what the store knows of functions: %w", err)
	}
	var parts []queue.Note // of functions and layers, which are read before
	for _, n := range notes {
		if strings.HasPrefix(n.Key, versionKey) || strings.HasPrefix(n.Key, layerVersionKey) {
			parts = append(parts, n)
			continue
		}
		if err := k.read(n); err != nil {
			return k, err
		}
	}
	for _, n := range parts {
		if err := k.read(n); err != nil {
			return k, err
		}
	}
	return k, nil
}

func (k *known) read(n queue.Note) error {
	kind, rest, _ := strings.Cut(n.Key, "/")
	name, _, _ := strings.Cut(rest, "/")
	var err error
	switch kind + "/" {
	case functionKey:
		f := &Function{versions: map[string]Version{}}
		err = json.Unmarshal(n.Value, f)
		k.functions[f.Name] = f
	case layerKey:
		l := &Layer{versions: map[int]LayerVersion{}}
		err = json.Unmarshal(n.Value, l)
		k.layers[l.Name] = l
	case mappingKey:
		var m Mapping
		err = json.Unmarshal(n.Value, &m)
		k.mappings = append(k.mappings, m)
	case signingKey:
		var s Signing
		err = json.Unmarshal(n.Value, &s)
		k.signings[s.ID] = s
	case versionKey:
		var v Version
		err = json.Unmarshal(n.Value, &v)
		if f := k.functions[name]; f != nil {
			f.versions[v.Number] = v
		}
	case layerVersionKey:
		var v LayerVersion
		err = json.Unmarshal(n.Value, &v)
		if l := k.layers[name]; l != nil {
			l.versions[v.Number] = v
		}
	}
	if err != nil {
		return fmt.Errorf("what the store knows of %s cannot be read: %w", n.Key, err)
	}
	return nil
}

// note is a value as a note.
func note(key string, value any) (queue.Note, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return queue.Note{}, fmt.Errorf("keep %s: %w", key, err)
	}
	if len(text) > queue.MaxNoteBytes {
		return queue.Note{}, invalid("the settings take %d bytes, at most %d are possible", len(text),
			queue.MaxNoteBytes)
	}
	return queue.Note{Room: room, Key: key, Value: text}, nil
}

// configured marks the context of what the operator's own configuration defines: it is never refused for memory, else
// a store that is full could not be started.
type configured struct{}

// setNotes keeps notes durably. It goes on when the caller goes away: what is kept has to be known here, too.
func (r *Registry) setNotes(ctx context.Context, notes ...queue.Note) error {
	set := r.store.SetNotes
	if ctx.Value(configured{}) != nil {
		set = r.store.KeepNotes
	}
	return set(context.WithoutCancel(ctx), notes...)
}

// keep makes f what is known of its function, durably, with other notes of the same moment. The caller holds r.change.
func (r *Registry) keep(ctx context.Context, f *Function, others ...queue.Note) error {
	n, err := note(functionKey+f.Name, f)
	if err != nil {
		return err
	}
	if err := r.setNotes(ctx, append(others, n)...); err != nil {
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
