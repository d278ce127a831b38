package config

import "slices"

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
