package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readJSON reads strict JSON: one value, no comments, no key twice. The tokens come from encoding/json; the places from
// the offsets between them.
func readJSON(s *source) (*node, *Error) {
	r := &jsonReader{source: s, places: placer{source: s}, decoder: json.NewDecoder(bytes.NewReader(s.text))}
	r.decoder.UseNumber()
	root, err := r.value(1)
	if err != nil {
		return nil, err
	}
	at := r.next()
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, s.error(s.place(at), "a file holds one value", "there is more after the end of the value")
	}
	return root, nil
}

type jsonReader struct {
	source  *source
	places  placer
	decoder *json.Decoder
	budget  budget
}

// next is the offset of the next token's first byte.
func (r *jsonReader) next() int {
	i := int(r.decoder.InputOffset())
	for i < len(r.source.text) && strings.IndexByte(" \t\r\n,:", r.source.text[i]) >= 0 {
		i++
	}
	return i
}

func (r *jsonReader) token() (json.Token, int, *Error) {
	at := r.next()
	t, err := r.decoder.Token()
	if err == nil {
		return t, at, nil
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) && syntax.Offset > 0 && at < len(r.source.text) {
		// Token errors count from the token, value errors from the file's start: the token's place is right for both.
		return nil, at, r.source.error(r.source.place(at), "", "this is not JSON: %s",
			strings.TrimPrefix(syntax.Error(), "json: "))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || at >= len(r.source.text) {
		return nil, at, r.source.error(r.source.place(len(r.source.text)), "a } or ] may be missing",
			"the file ends in the middle of a value")
	}
	return nil, at, r.source.error(r.source.place(at), "", "this is not JSON: %v", err)
}

func (r *jsonReader) value(depth int) (*node, *Error) {
	t, offset, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &node{at: r.places.place(offset), token: -1}
	if broken := r.budget.take(depth); broken != "" {
		return nil, r.source.error(n.at, "", "%s", broken)
	}
	switch t := t.(type) {
	case nil:
		n.kind = kindNull
	case bool:
		n.kind, n.text = kindBool, fmt.Sprint(t)
	case json.Number:
		n.kind, n.text = kindInt, t.String()
		if strings.ContainsAny(n.text, ".eE") {
			n.kind = kindFloat
		}
	case string:
		n.kind, n.text, n.token = kindString, t, offset
	case json.Delim:
		if t == '[' {
			return n, r.list(n, depth)
		}
		return n, r.mapping(n, depth)
	}
	return n, nil
}

func (r *jsonReader) list(n *node, depth int) *Error {
	n.kind = kindList
	for r.decoder.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, _, err := r.token()
	return err
}

func (r *jsonReader) mapping(n *node, depth int) *Error {
	n.kind = kindMap
	seen := keys{}
	for r.decoder.More() {
		t, offset, err := r.token()
		if err != nil {
			return err
		}
		at := r.places.place(offset)
		key, ok := t.(string)
		if !ok {
			return r.source.error(at, "", "a key is a text in double quotes")
		}
		if first, ok := seen.add(key, at); !ok {
			return duplicate(r.source, at, key, first)
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.pairs = append(n.pairs, pair{key, at, value})
	}
	_, _, err := r.token()
	return err
}
