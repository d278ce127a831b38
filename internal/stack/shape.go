package stack

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Templates write numbers as texts and texts as numbers; the doors tell them apart. A shape says what a property is:
// one of the words below, fields, or a list.
type (
	word   int
	fields map[string]any
	list   struct{ of any }
)

const (
	text   word = iota
	number      // a whole one
	truth
	texts // a map of texts
	document
)

// fit brings a value into a shape. Properties that are not in it are an error: whoever writes one counts on it.
func fit(at string, v, shape any) (any, error) {
	switch shape := shape.(type) {
	case list:
		all, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("%s is no list", at)
		}
		out := make([]any, len(all))
		for i, one := range all {
			var err error
			if out[i], err = fit(fmt.Sprintf("%s[%d]", at, i), one, shape.of); err != nil {
				return nil, err
			}
		}
		return out, nil
	case fields:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is no map", at)
		}
		out := make(map[string]any, len(m))
		for _, name := range slices.Sorted(maps.Keys(m)) {
			inner := strings.TrimPrefix(at+"."+name, ".")
			of, known := shape[name]
			if !known {
				return nil, fmt.Errorf("the property %s is not known here", inner)
			}
			if m[name] == nil {
				continue
			}
			var err error
			if out[name], err = fit(inner, m[name], of); err != nil {
				return nil, err
			}
		}
		return out, nil
	case word:
		return fitWord(at, v, shape)
	}
	return v, nil
}

func fitWord(at string, v any, shape word) (any, error) {
	if shape == document {
		return v, nil
	}
	if shape == texts {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is no map", at)
		}
		out := make(map[string]any, len(m))
		for name, one := range m {
			var err error
			if out[name], err = fitWord(at+"."+name, one, text); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	var s string
	switch v := v.(type) {
	case string:
		s = v
	case json.Number:
		s = v.String()
	case bool:
		s = strconv.FormatBool(v)
	default:
		return nil, fmt.Errorf("%s is a list or a map", at)
	}
	switch shape {
	case number:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s is no whole number: %q", at, s)
		}
		return n, nil
	case truth:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("%s is neither true nor false: %q", at, s)
		}
		return b, nil
	}
	return s, nil
}

// tagList reads Tags, which templates write as a list of Key and Value.
func tagList(v any) (map[string]string, error) {
	if v == nil {
		return nil, nil
	}
	fitted, err := fit("Tags", v, list{fields{"Key": text, "Value": text}})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, one := range fitted.([]any) {
		m := one.(map[string]any)
		key, _ := m["Key"].(string)
		if strings.HasPrefix(key, ours) {
			return nil, fmt.Errorf("tags that begin with %s are hikyaku's own", ours)
		}
		out[key], _ = m["Value"].(string)
	}
	return out, nil
}
