package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// DefinitionError says what is wrong with a definition.
type DefinitionError struct {
	Line, Column int // from 1; 0 when the place is not known
	Message      string
}

func (e *DefinitionError) Error() string {
	if e.Line == 0 {
		return "schema definition: " + e.Message
	}
	return fmt.Sprintf("schema definition, line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// placed is an error at a byte of the definition.
func placed(definition string, offset int, format string, args ...any) *DefinitionError {
	before := definition[:min(max(offset, 0), len(definition))]
	return &DefinitionError{
		Line:    strings.Count(before, "\n") + 1,
		Column:  len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1,
		Message: fmt.Sprintf(format, args...),
	}
}

// MessageError says what is wrong with a message.
type MessageError struct {
	Path    string // the field, as in items[3].price; "" for the message itself
	Message string
}

func (e *MessageError) Error() string {
	if e.Path == "" {
		return "message does not fit its schema: " + e.Message
	}
	return "message does not fit its schema: " + e.Path + ": " + e.Message
}

func wrong(format string, args ...any) *MessageError {
	return &MessageError{Message: fmt.Sprintf(format, args...)}
}

// maxPath is how long a path grows. What is nested deeply has a path that nobody reads.
const maxPath = 200

// in adds the field that the error is in. It returns nil for nil.
func (e *MessageError) in(name string) *MessageError {
	if e != nil && len(e.Path) < maxPath {
		if e.Path != "" && e.Path[0] != '[' {
			name += "."
		}
		e.Path = name + e.Path
	}
	return e
}

// at adds the place in a list that the error is at.
func (e *MessageError) at(i int64) *MessageError {
	return e.in("[" + strconv.FormatInt(i, 10) + "]")
}

// RevisionError says why a definition cannot follow another.
type RevisionError struct {
	Path    string // the field; "" where it is none
	Message string
}

func (e *RevisionError) Error() string {
	if e.Path == "" {
		return "schema revision: " + e.Message
	}
	return "schema revision: " + e.Path + ": " + e.Message
}

// shorten cuts a text to what fits an error message.
func shorten(s string) string { return message.Shorten(s, 40) }
