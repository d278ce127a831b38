package config

import (
	"encoding"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/component"
)

// decoder fills Go values from nodes and notes every mistake on its way.
type decoder struct {
	*report
}

// mapping fills the targets, pointers to structs, from one mapping: each key belongs to the first target that has
// it. path names the mapping in messages, "" for the whole file.
func (d *decoder) mapping(n *node, path string, targets ...any) {
	type slot struct {
		field
		value reflect.Value
	}
	var slots []slot
	refused := map[string]string{}
	for _, t := range targets {
		v := reflect.ValueOf(t).Elem()
		setDefaults(v)
		for _, f := range fieldsOf(v.Type()) {
			slots = append(slots, slot{f, v.FieldByIndex(f.index)})
		}
		if r, ok := t.(keyRefuser); ok {
			maps.Copy(refused, r.refusedKeys())
		}
	}
	if n.kind != kindMap && n.kind != kindNull {
		d.wrong(n, path, "a mapping")
		return
	}
	seen := map[string]bool{}
	for _, p := range n.pairs {
		i := slices.IndexFunc(slots, func(s slot) bool { return s.name == p.key })
		if i >= 0 {
			seen[p.key] = true
			d.value(p.value, slots[i].value, &slots[i].field, join(path, p.key))
			continue
		}
		if why, ok := refused[p.key]; ok {
			d.at(p.at, "", "%s", why)
			continue
		}
		if isLikely(p.key, true) {
			d.conceal(p.value) // of a key that is mistyped
		}
		names := make([]string, len(slots))
		for i, s := range slots {
			names[i] = s.name
		}
		d.at(p.at, d.suggest(p.key, "keys here", names), "unknown key %q%s", shorten(p.key), in(path))
	}
	for _, s := range slots {
		if s.required() && !seen[s.name] {
			d.at(n.at, "", "%q is missing%s", s.name, in(path))
		}
	}
	for _, t := range targets {
		if c, ok := t.(settingsChecker); ok {
			for _, err := range c.checkSettings() {
				d.setting(err, n, path)
			}
		}
	}
}

func join(path, key string) string {
	key = shorten(key)
	if path == "" {
		return key
	}
	return path + "." + key
}

// suggest is like the function, but does not work for mistakes that nobody will see.
func (d *decoder) suggest(s, what string, names []string) string {
	if d.full() {
		return ""
	}
	return suggest(s, what, names)
}

func in(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

// wrong notes a value of another type than wanted.
func (d *decoder) wrong(n *node, path, wanted string) {
	what := path
	if what == "" {
		what = "the file"
	}
	d.at(n.at, "", "%s takes %s, not %s", what, wanted, n.describe())
}

// value fills v. f says what its tags ask; nil for the members of lists and maps.
func (d *decoder) value(n *node, v reflect.Value, f *field, path string) {
	if f == nil {
		f = &field{}
	}
	if f.secret() || v.Type() == secretType {
		d.conceal(n)
	}
	if v.CanAddr() {
		switch t := v.Addr().Interface().(type) {
		case nodeDecoder:
			t.decodeNode(d, n, path)
			return
		case pairSetter:
			d.ordered(n, t, path)
			return
		case encoding.TextUnmarshaler:
			d.text(n, t, path)
			return
		}
	}
	if v.Kind() == reflect.Pointer {
		if n.kind == kindNull {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), f, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(n, path, v.Addr().Interface())
	case reflect.Map:
		d.goMap(n, v, path)
	case reflect.Slice:
		d.list(n, v, f, path)
	case reflect.Interface:
		if v.Type() == anyType {
			if plain := d.plain(n); plain != nil {
				v.Set(reflect.ValueOf(plain))
			}
		}
	default:
		if n.kind == kindNull {
			d.at(n.at, "write a value, or leave the key out", "%s has no value", path)
			return
		}
		d.scalar(n, v, f, path)
	}
}

// concealed stands for a secret that the file has.
const concealed = "********"

// conceal keeps a secret setting out of every message, also one that is written wrongly.
func (d *decoder) conceal(n *node) {
	n.hide = true
	if n.kind == kindString || n.kind == kindInt || n.kind == kindFloat {
		d.secrets.keep(concealed, n.text)
		d.secrets.keepShort(n.at.line, n.text)
	}
	for _, item := range n.items {
		d.conceal(item)
	}
	for _, p := range n.pairs {
		d.conceal(p.value)
	}
}

func (d *decoder) text(n *node, t encoding.TextUnmarshaler, path string) {
	if n.kind == kindMap || n.kind == kindList || n.kind == kindNull {
		d.wrong(n, path, "a single value")
		return
	}
	if n.unset {
		return
	}
	if err := t.UnmarshalText([]byte(n.text)); err != nil {
		d.foreign(err, n, path)
	}
}

func (d *decoder) ordered(n *node, t pairSetter, path string) {
	if n.kind != kindMap && n.kind != kindNull {
		d.wrong(n, path, "a mapping")
		return
	}
	pairs := make([]component.Pair, len(n.pairs))
	for i, p := range n.pairs {
		pairs[i] = component.Pair{Key: p.key, Value: d.plain(p.value)}
	}
	if err := t.SetPairs(pairs); err != nil {
		d.setting(err, n, path)
	}
}

func (d *decoder) goMap(n *node, v reflect.Value, path string) {
	if n.kind == kindNull {
		return
	}
	if n.kind != kindMap {
		d.wrong(n, path, "a mapping")
		return
	}
	if v.Type().Key().Kind() != reflect.String {
		d.at(n.at, "", "%s cannot be set in a file", path)
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.pairs)))
	for _, p := range n.pairs {
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(p.value, value, nil, join(path, p.key))
		v.SetMapIndex(reflect.ValueOf(p.key).Convert(v.Type().Key()), value)
	}
}

// list fills a slice; a single value stands for a list of one.
func (d *decoder) list(n *node, v reflect.Value, f *field, path string) {
	items := n.items
	switch n.kind {
	case kindNull:
		return
	case kindMap:
		if v.Type().Elem().Kind() != reflect.Struct {
			d.wrong(n, path, "a list")
			return
		}
		items = []*node{n}
	case kindList:
	default:
		if v.Type().Elem().Kind() == reflect.Struct {
			d.wrong(n, path, "a list of mappings")
			return
		}
		items = []*node{n}
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	member := &field{tag: f.tag}
	for i, item := range items {
		d.value(item, v.Index(i), member, path+"["+strconv.Itoa(i)+"]")
	}
}

// plain makes the Go value that a field of type any gets: nil, bool, int, float64, string, []any or map[string]any.
func (d *decoder) plain(n *node) any {
	switch n.kind {
	case kindNull:
		return nil
	case kindBool:
		return n.text == "true" || n.text == "True" || n.text == "TRUE"
	case kindInt:
		if i, err := parseInt(n.text, 64); err == nil {
			return int(i)
		}
		return d.plainFloat(n)
	case kindFloat:
		return d.plainFloat(n)
	case kindList:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = d.plain(item)
		}
		return list
	case kindMap:
		m := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			m[p.key] = d.plain(p.value)
		}
		return m
	default:
		return n.text
	}
}

func (d *decoder) plainFloat(n *node) any {
	f, err := parseFloat(n.text)
	if err != nil {
		d.at(n.at, "quote it if it is text", "%s is no number that can be kept", n.describe())
		return nil
	}
	return f
}
