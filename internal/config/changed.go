package config

import (
	"reflect"
	"slices"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Changed names the keys that say something else in another reading of the file, with those above them and dots
// between, in order: of a mapping those of its keys that differ, and of a list its own. Values are compared as they are
// after the environment was put in; comments, order and form do not count.
func (f *File) Changed(next *File) []string {
	var changed []string
	differing(f.root, next.root, "", &changed)
	slices.Sort(changed)
	return changed
}

// differing adds the names of what is not the same in two mappings, of which one may not be there.
func differing(a, b *node, prefix string, names *[]string) {
	for _, of := range []*node{a, b} {
		if of == nil {
			continue
		}
		for _, p := range of.pairs {
			name := prefix + p.key
			switch x, y := a.get(p.key), b.get(p.key); {
			case of == b && x != nil: // it was looked at with the first
			case sameNode(x, y):
			case (x == nil || x.kind == kindMap) && (y == nil || y.kind == kindMap) && len(p.value.pairs) > 0:
				differing(x, y, name+".", names)
			default:
				*names = append(*names, name)
			}
		}
	}
}

func sameNode(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.kind != b.kind || a.text != b.text || len(a.pairs) != len(b.pairs) ||
		!slices.EqualFunc(a.items, b.items, sameNode) {
		return false
	}
	for _, p := range a.pairs {
		if !sameNode(p.value, b.get(p.key)) {
			return false
		}
	}
	return true
}

// Same tells whether a component of that name, as Build names its nodes, is the same in another reading of the file.
func (f *File) Same(next *File, name string) bool {
	a, b := f.component(name), next.component(name)
	return a != nil && b != nil && a.room == b.room && sameNode(a.node, b.node)
}

// component is the one that has a node of that name; nil: there is none.
func (f *File) component(name string) *part {
	for _, p := range f.parts {
		if p.name == name || p.decoding != nil && p.name+decodingSuffix == name {
			return p
		}
	}
	return nil
}

// Redefined is next with only those of its topics, queues and functions that the file does not have (added), and with
// only those that the file has otherwise (altered).
func (f *File) Redefined(next *File) (added, altered *File) {
	a, b := *next, *next
	a.Topics, a.Queues, a.Functions = nil, nil, nil
	b.Topics, b.Queues, b.Functions = nil, nil, nil
	topics, queues, functions := map[queue.Name]bool{}, map[queue.Name]*Queue{}, map[string]*Function{}
	for i := range f.Topics {
		topics[f.resolve(f.Topics[i].Name)] = true
	}
	for i := range f.Queues {
		queues[f.resolve(f.Queues[i].Name)] = &f.Queues[i]
	}
	for i := range f.Functions {
		functions[f.Functions[i].Name] = &f.Functions[i]
	}
	for _, t := range next.Topics {
		if !topics[next.resolve(t.Name)] {
			a.Topics = append(a.Topics, t)
		}
	}
	for _, q := range next.Queues {
		switch was := queues[next.resolve(q.Name)]; {
		case was == nil:
			a.Queues = append(a.Queues, q)
		case !reflect.DeepEqual(was.Definition, q.Definition):
			b.Queues = append(b.Queues, q)
		}
	}
	for _, fn := range next.Functions {
		switch was := functions[fn.Name]; {
		case was == nil:
			a.Functions = append(a.Functions, fn)
		case !sameNode(was.node, fn.node):
			b.Functions = append(b.Functions, fn)
		}
	}
	return &a, &b
}
