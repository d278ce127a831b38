package rows

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/message"
)

// ValueError is a value that does not go into its column.
type ValueError struct {
	Column string
	Type   string // of the column, as the database writes it
	Value  string // shortened
	Why    string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("the column %s is %s: %s %s", e.Column, e.Type, e.Value, e.Why)
}

func (c *Column) refuse(shown, why string) error {
	kind := c.Native
	if kind == "" {
		kind = c.Kind.String()
	}
	return &ValueError{Column: c.Name, Type: kind, Value: shown, Why: why}
}

const mostShown = 60

// shorten cuts what is shown of a value.
func shorten(s string) string { return message.Shorten(s, mostShown) }

// show puts a text between quotes.
func show(s string) string {
	if len(s) > mostShown {
		return strconv.Quote(shorten(s)) + " (" + strconv.Itoa(len(s)) + " bytes)"
	}
	return strconv.Quote(s)
}

// Reasons of rows that are refused before they are sent.
var (
	// ErrUnknown: the body has a field for which the table has no column (Config.Unknown).
	ErrUnknown = errors.New("there is no column for it")
	// ErrMissing: a column has no field, and may not be left out (Config.Missing).
	ErrMissing = errors.New("the field is missing")
	// ErrNoRow: update or delete found no row of the message's key (Config.NoSuchRow).
	ErrNoRow = errors.New("there is no such row")
)
