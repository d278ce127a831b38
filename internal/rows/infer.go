package rows

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// mostInferred bounds the messages that are looked at for a table that is to be made of them.
const mostInferred = 1000

// inferred makes columns of what the messages have, in the order in which it is found: a column holds what every one of
// them has in it. nil: there is nothing to make a table of.
func (s *settings) inferred(batch []*message.Message) []Column {
	found := map[string]Kind{}
	var order []string
	note := func(name string, k Kind) {
		have, ok := found[name]
		if !ok && checkName(name) == nil {
			order = append(order, name)
		}
		found[name] = wider(have, k)
	}
	for _, m := range batch[:min(len(batch), mostInferred)] {
		if isObject(string(m.Body)) {
			fieldKinds(m.Body, note)
		} else {
			for _, a := range m.Attributes {
				note(a.Name, attributeKind(a.Value))
			}
		}
	}
	if len(order) == 0 {
		return nil
	}
	mapping := s.columns
	if len(mapping) == 0 {
		for _, name := range order {
			if name != s.id {
				mapping = append(mapping, Mapped{name, name})
			}
		}
	}
	var columns []Column
	for _, m := range mapping {
		columns = append(columns, inferredColumn(m.Column, specialKind(m.From, found[m.From])))
	}
	return s.withID(columns)
}

func inferredColumn(name string, k Kind) Column {
	c := Column{Name: name, Kind: k, Nullable: true}
	switch k {
	case Null:
		c.Kind = Text
	case Int, Float:
		c.Bits = 64
	case TimestampTZ:
		c.Scale = 6
	}
	return c
}

func specialKind(from string, field Kind) Kind {
	switch from {
	case "$id", "$key", "$body":
		return Text
	case "$time":
		return TimestampTZ
	case "$attributes":
		return JSON
	}
	return field
}

// wider is a kind that holds both.
func wider(a, b Kind) Kind {
	switch {
	case a == b || b == Null:
		return a
	case a == Null:
		return b
	case a == Int && b == Float || a == Float && b == Int:
		return Float
	case a == JSON || b == JSON:
		return JSON
	}
	return Text
}

func attributeKind(v message.Value) Kind {
	switch v.Kind() {
	case message.KindBool:
		return Bool
	case message.KindInt:
		return Int
	case message.KindFloat:
		return Float
	case message.KindBytes:
		return Bytes
	case message.KindTime:
		return TimestampTZ
	case message.KindNull:
		return Null
	}
	return Text
}

// fieldKinds tells the kinds of an object's fields; a body that is broken ends where it is.
func fieldKinds(body []byte, note func(name string, k Kind)) {
	d := json.NewDecoder(bytes.NewReader(body))
	if _, err := d.Token(); err != nil {
		return
	}
	for d.More() {
		name, err := d.Token()
		text, ok := name.(string)
		var raw json.RawMessage
		if err != nil || !ok || d.Decode(&raw) != nil {
			return
		}
		note(text, jsonKind(string(raw)))
	}
}

func jsonKind(raw string) Kind {
	switch raw[0] {
	case '"':
		return Text
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	case '{', '[':
		return JSON
	}
	c := Column{Kind: Int, Bits: 64}
	if _, err := c.integer(raw); err != nil || strings.ContainsAny(raw, ".eE") {
		return Float
	}
	return Int
}
