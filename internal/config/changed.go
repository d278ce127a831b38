package config

import "slices"

// Changed names the keys at the top of the file that say something else in another reading of it, in order. Values are
// compared as they are after the environment was put in; comments, order and form do not count.
func (f *File) Changed(next *File) []string {
	var changed []string
	for _, of := range []*File{f, next} {
		for _, p := range of.root.pairs {
			if !slices.Contains(changed, p.key) && !sameNode(f.root.get(p.key), next.root.get(p.key)) {
				changed = append(changed, p.key)
			}
		}
	}
	slices.Sort(changed)
	return changed
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
