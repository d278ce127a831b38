package rows

import (
	"context"
	"slices"
)

// Driver is one kind of database. Its methods may be called from several goroutines at once.
type Driver interface {
	// Open makes a session: one connection, or what stands for it. ctx bounds the opening only.
	Open(ctx context.Context) (Session, error)
	// Judge says what an error of Open or of a session's method means. It is never asked about nil.
	Judge(err error) Fault
	// Close lets go of what the driver holds beside its sessions, which are closed before.
	Close() error
}

// Wide is met by drivers of databases to which a larger block is worth much, such as one that has its disk to wait for
// at each commit.
type Wide interface {
	// UsualRows is how many rows a block has at most where batch.max_events does not say.
	UsualRows() int
}

// Noticing is met by drivers that may have to tell a person something that stops no row.
type Noticing interface {
	// Notices are the same texts each time, and new ones behind them. It may be called from any goroutine.
	Notices() []string
}

// Session is a connection to a database. One goroutine uses it at a time.
type Session interface {
	// Describe reads the table's columns as they are now. A table that is not there is an error that Judge calls
	// NoTable.
	Describe(ctx context.Context, table Name) (*Table, error)
	// Create makes the table, where no table of that name is there; that another made it meanwhile is no error. A
	// column's Native, where it is not "", is its type and what belongs to it ("bigint not null") as a person wrote it,
	// and is not changed; else the driver takes the type for the column's Kind and limits. The columns that are Key are
	// the primary key, and not null, where Native does not say so already.
	Create(ctx context.Context, t *Table) error
	// Write writes all rows of a block in one transaction and commits it: afterwards all of them are there for good, or
	// none is. The exception is an answer to the commit that was lost, an error that Judge calls Unknown.
	Write(ctx context.Context, b *Block) error
	// Close ends the session. Whatever it had begun and not committed is undone by the database.
	Close() error
}

// Mode is what is done about a row whose key is there already.
type Mode uint8

// The modes.
const (
	Insert Mode = iota // a constraint violation
	Upsert             // the row takes the place of the old one
	Once               // the old row stays, and it is no error: a message that comes again does no harm
	Update             // the columns beside the key are set in the row that is there; none is made
	Delete             // the row that is there is deleted; the block has the columns of the key alone
)

func (m Mode) String() string { return [...]string{"insert", "upsert", "once", "update", "delete"}[m] }

// Finds tells whether a mode changes rows that are found by their key, and makes none.
func (m Mode) Finds() bool { return m == Update || m == Delete }

// Block is rows on their way to one table. A driver must not keep it, nor change it but by Miss.
type Block struct {
	Table *Table
	Mode  Mode
	// those that are written, a subset of the table's in any order; the driver may keep the slice as a key of its
	// prepared statements: the same columns come as the same slice
	Columns []Column
	// Values are the rows one after the other, len(Columns) for each. A Value is Null or of its column's Kind.
	Values []Value
	// Key are the columns by which Upsert and Once tell that a row is there already, each of them one of Columns. A
	// database that can look at one key only looks at this one; a violation of another is an error. Nil with Insert.
	// Update and Delete find rows by it; no value in it is Null then.
	Key []Column
	// Sole: as far as the table's keys tell, no two of its rows have the same Key.
	Sole bool

	missed []int
}

// Miss says of a row of Update or Delete that the table has none of its key. Of rows with one and the same key by the
// database's own rules, such as "A" and "a" where it folds case, only the last of Update has to be made, and none of
// them is missed.
func (b *Block) Miss(row int) { b.missed = append(b.missed, row) }

// Parts are the places of the key's columns among Columns, and those of the others.
func (b *Block) Parts() (key, others []int) {
	for i := range b.Columns {
		if slices.ContainsFunc(b.Key, func(c Column) bool { return c.Name == b.Columns[i].Name }) {
			key = append(key, i)
		} else {
			others = append(others, i)
		}
	}
	return key, others
}

// Rows is how many there are.
func (b *Block) Rows() int {
	if len(b.Columns) == 0 {
		return 0
	}
	return len(b.Values) / len(b.Columns)
}

// Row is the i-th of them.
func (b *Block) Row(i int) []Value { return b.Values[i*len(b.Columns) : (i+1)*len(b.Columns)] }

// Class is what can be done about a failure.
type Class uint8

// The classes.
const (
	// the database cannot be reached, is full, or went away before it could commit: later, on a new session. Nothing
	// was written
	Away     Class = iota
	Conflict       // the transaction lost against another: at once again. Nothing was written
	// a row is refused: the one at Fault.Row, or one of those in the block where that is -1. Nothing was written
	BadRow
	// the table is not as it was described: describe it again, then try again. Nothing was written
	Drift
	NoTable // there is no such table
	// nobody may do that, whatever the row: a wrong password, no right to insert. A person is needed; later
	Refused
	Unknown // the commit was sent and its answer lost: the rows may be there or not. On a new session
)

func (c Class) String() string {
	return [...]string{"away", "conflict", "bad row", "drift", "no table", "refused", "unknown"}[c]
}

// Fault is what a driver says of an error.
type Fault struct {
	Class  Class
	Row    int    // BadRow: which one of the block, -1 when the database does not say
	Column string // the column at fault, "" when the database does not say
	Broken bool   // the session cannot be used again
}
