package config

import "strings"

// Setting is one setting of a component: its path below the component, and its text without secrets.
type Setting struct{ Name, Text string }

// Component is what the file says of a source, transform or sink. ok: it has one of that name.
func (f *File) Component(name string) (kind string, all []Setting, ok bool) {
	for _, p := range f.parts {
		if p.name == name {
			return p.common.Type, f.settings(nil, p.node, ""), true
		}
	}
	return "", nil, false
}

// settings appends those of a node: one a single value or list of such. The type of a component is none.
func (f *File) settings(all []Setting, n *node, path string) []Setting {
	switch n.kind {
	case kindMap:
		for _, p := range n.pairs {
			if path == "" && p.key == "type" {
				continue
			}
			if isLikely(p.key, false) && !strings.HasSuffix(p.key, "_file") {
				all = append(all, Setting{join(path, p.key), concealed})
				continue
			}
			all = f.settings(all, p.value, join(path, p.key))
		}
		return all
	case kindList:
		texts := make([]string, 0, len(n.items))
		for _, item := range n.items {
			if item.kind == kindMap || item.kind == kindList {
				all = f.settings(all, item, path+"[]")
				continue
			}
			texts = append(texts, f.told(item))
		}
		if len(texts) > 0 {
			all = append(all, Setting{path, strings.Join(texts, ", ")})
		}
		return all
	}
	return append(all, Setting{path, f.told(n)})
}

// told is the text of a single value without secrets.
func (f *File) told(n *node) string {
	if n.hide {
		return concealed
	}
	return maskUserinfo(f.secrets.line(n.at.line).Mask(n.text))
}
