package rowstest

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// Harness is one database and the sink that is tested in front of it. The suite runs its tests one after the other;
// each has tables of its own and closes its sinks. Functions end the test that they are given by t.Fatal when something
// fails that is not tested.
type Harness struct {
	// Open makes the sink, with c as its settings beside those that say where the database is. The suite starts and
	// closes it.
	Open func(t testing.TB, c rows.Config) component.Sink
	// Name gives a table its full name, such as {"public", table}. Config.Table takes it as it is, or, if it has one
	// part, its String.
	Name func(table string) rows.Name
	// Create makes a table. Names are not quoted.
	Create func(t testing.TB, table rows.Name, columns []Definition)
	// Drop removes a table.
	Drop func(t testing.TB, table rows.Name)
	// Read gives all rows, in any order. A cell is nil for NULL, or a bool, int64, uint64, float64, string, []byte or
	// time.Time (a time of day: its text); a string or []byte may always stand for the value's text, as the database
	// writes it. UUIDs are text. Names are not quoted.
	Read func(t testing.TB, table rows.Name, columns []string) [][]any
	// Types are the types of columns that the sink knows, one of each kind and size at least. The suite has cases for
	// each Kind, made from the Column.
	Types []Type

	// The types that the suite uses where it does not matter which.
	Int  string // a column type for integers of 64 bits, which may be a key
	Text string // a column type for text of at least 100 characters, which may be a key
	Huge string // a column type for text of 10 MB; "": see Without
	None string // a word that is no type; "": see Without

	// Duplicate is part of what the database says of a key that is there already.
	Duplicate string

	// What may be missing. A nil hook has its reason in Without, by its name.

	// AddColumn adds a column to a table that has rows.
	AddColumn func(t testing.TB, table rows.Name, column Definition)
	// DropColumn takes a column away.
	DropColumn func(t testing.TB, table rows.Name, column string)
	// Retype changes the type of a column from Int to Text.
	Retype func(t testing.TB, table rows.Name, column string)
	// Conflict holds the table so that a transaction of the sink loses against another, or waits until it gives up;
	// free ends that.
	Conflict func(t testing.TB, table rows.Name) (free func())
	// Kill ends all sessions of the sinks that are open, at once, as an administrator would.
	Kill func(t testing.TB)
	// CutAfter cuts the connection to the database when the sinks have sent so many bytes more to it, once.
	CutAfter func(t testing.TB, bytes int)
	// LoseAnswer lets the next commit reach the database and be made, and then cuts the connection instead of passing
	// the answer on, once. lost tells whether that has happened.
	LoseAnswer func(t testing.TB) (lost func() bool)
	// Hang makes the database take what is sent and answer nothing, also to new connections, until free is called.
	Hang func(t testing.TB) (free func())
	// Down makes the database refuse connections, having ended those that there are; up brings it back.
	Down func(t testing.TB) (up func())
	// Without says why hooks and other fields are not set, by their name; and with Defaults, why Describe does not tell
	// which columns have one.
	Without map[string]string
}

// Definition is a column of a table that is to be made.
type Definition struct {
	Name    string
	Type    string // as in SQL
	NotNull bool
	Key     bool   // it is the primary key, with the other ones that are Key
	Default string // an expression of SQL; "": none
}

// Type is a type that a column may have.
type Type struct {
	SQL string // as in SQL: "decimal(10,2)"
	// what the sink's Describe says of it, but for Name and Native: from this the suite knows the limits
	Column rows.Column
	Cases  []Case   // beside those of the suite
	Except []string // fields' JSON texts of cases of the suite that do not hold here; say why in a comment
}

// Case is a field and what becomes of it.
type Case struct {
	Field   string // JSON text
	Want    string // the cell's text, see Text; "NULL" for NULL
	Refused string // part of the reason; then Want is ignored
}
