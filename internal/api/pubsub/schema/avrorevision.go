package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hamba/avro/v2"
)

// checkAvroRevision wants each of the two to read what the other wrote, by the specification's rules of schema
// resolution.
func checkAvroRevision(last, next *avroType) *RevisionError {
	if err := (&resolution{}).reads(next, last); err != nil {
		return &RevisionError{Path: err.Path, Message: "the new definition cannot read messages of the last one: " +
			err.Message}
	}
	if err := (&resolution{}).reads(last, next); err != nil {
		return &RevisionError{Path: err.Path, Message: "the last definition cannot read messages of the new one: " +
			err.Message}
	}
	return nil
}

// resolution finds out whether a reader's types can read what a writer's types wrote.
type resolution struct {
	known map[[2]*avroType]*RevisionError // of records; one that is being looked into stands there as readable
	steps int                             // that were taken
}

// maxSteps is how many pairs of types are looked at: unions of many namesakes would have each looked at beside each. A
// definition has about 30,000 types at most, each of which meets one as a rule.
const maxSteps = 100_000

// promotions are the types whose values a reader's type can read besides its own.
var promotions = map[avro.Type][]avro.Type{
	avro.Long: {avro.Int}, avro.Float: {avro.Int, avro.Long}, avro.Double: {avro.Int, avro.Long, avro.Float},
	avro.String: {avro.Bytes}, avro.Bytes: {avro.String},
}

func (c *resolution) reads(reader, writer *avroType) *RevisionError {
	if c.steps++; c.steps > maxSteps {
		return &RevisionError{Message: "too many types would have to be compared with each other"}
	}
	switch {
	case writer.kind == avro.Union:
		for _, option := range writer.options {
			if err := c.reads(reader, option); err != nil {
				return err
			}
		}
		return nil
	case reader.kind == avro.Union:
		same, ok := reader.branch[writer.name]
		if ok && c.reads(reader.options[same], writer) == nil {
			return nil // the branch of the same name, as a rule
		}
		for i, option := range reader.options {
			if (!ok || i != same) && option.resembles(writer) && c.reads(option, writer) == nil {
				return nil
			}
		}
		return &RevisionError{Message: "no branch of the union can hold " + writer.title()}
	case reader.kind != writer.kind:
		if slices.Contains(promotions[reader.kind], writer.kind) {
			return nil
		}
		return &RevisionError{Message: fmt.Sprintf("%s cannot be read as %s", writer.title(), reader.title())}
	}
	switch reader.kind {
	case avro.Array:
		return c.reads(reader.items, writer.items).within("[]")
	case avro.Map:
		return c.reads(reader.items, writer.items).within("{}")
	case avro.Fixed:
		if !reader.isCalled(writer.name) || reader.size != writer.size {
			return &RevisionError{Message: fmt.Sprintf("%s of %d bytes cannot be read as %s of %d bytes",
				writer.title(), writer.size, reader.title(), reader.size)}
		}
	case avro.Enum:
		return readsEnum(reader, writer)
	case avro.Record:
		return c.readsRecord(reader, writer)
	}
	return nil
}

// resembles is false for most types that cannot be read; finding that out by reads makes an error each time.
func (t *avroType) resembles(writer *avroType) bool {
	switch writer.kind {
	case avro.Record, avro.Enum, avro.Fixed:
		return t.kind == writer.kind && t.isCalled(writer.name)
	default:
		return t.kind == writer.kind || slices.Contains(promotions[t.kind], writer.kind)
	}
}

// isCalled tells whether a reader's type goes by the writer's name: that without its namespace, or an alias.
func (t *avroType) isCalled(name string) bool {
	return unqualified(t.name) == unqualified(name) || slices.Contains(t.aliases, name)
}

func unqualified(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func readsEnum(reader, writer *avroType) *RevisionError {
	if !reader.isCalled(writer.name) {
		return &RevisionError{Message: fmt.Sprintf("%s cannot be read as %s", writer.title(), reader.title())}
	}
	if reader.hasDefault {
		return nil
	}
	var missing []string
	for symbol := range writer.symbols {
		if _, ok := reader.symbols[symbol]; !ok {
			missing = append(missing, symbol)
		}
	}
	if len(missing) > 0 {
		return &RevisionError{Message: fmt.Sprintf("%q is no symbol of %s, which has no default", slices.Min(missing),
			reader.title())}
	}
	return nil
}

func (c *resolution) readsRecord(reader, writer *avroType) *RevisionError {
	if !reader.isCalled(writer.name) {
		return &RevisionError{Message: fmt.Sprintf("%s cannot be read as %s", writer.title(), reader.title())}
	}
	pair := [2]*avroType{reader, writer}
	if known, ok := c.known[pair]; ok {
		return known
	}
	if c.known == nil {
		c.known = map[[2]*avroType]*RevisionError{}
	}
	c.known[pair] = nil
	for _, f := range reader.fields {
		from := writer.field(f)
		if from == nil {
			if f.hasDefault {
				continue
			}
			err := (&RevisionError{Message: "it is missing there, and has no default"}).within(f.name)
			c.known[pair] = err
			return err
		}
		if err := c.reads(f.of, from).within(f.name); err != nil {
			c.known[pair] = err
			return err
		}
	}
	return nil
}

// field is the type of the writer's field that a reader's field is read from; nil if there is none.
func (t *avroType) field(f avroField) *avroType {
	for _, name := range append([]string{f.name}, f.aliases...) {
		if i, ok := t.byName[name]; ok {
			return t.fields[i].of
		}
	}
	return nil
}

// within is the error with the field that it is in. It returns nil for nil, and leaves the error itself as it is.
func (e *RevisionError) within(name string) *RevisionError {
	if e == nil || len(e.Path) >= maxPath {
		return e
	}
	path := name
	if e.Path != "" {
		path += "." + e.Path
	}
	return &RevisionError{Path: path, Message: e.Message}
}
