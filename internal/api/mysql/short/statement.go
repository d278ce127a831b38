package short

// A Verb says which of the statements was recognized.
type Verb uint8

const (
	Wait      Verb = iota + 1 // SELECT queue_wait(arg, …)
	End                       // SELECT queue_end()
	Abort                     // SELECT queue_abort()
	RowID                     // SELECT queue_rowid()
	SetSource                 // SELECT queue_set_srcid(source, mode, id)
	Select                    // SELECT * FROM table, SELECT columns FROM table
	Insert                    // INSERT INTO table [(columns)] VALUES (…), …
)

// String is the verb as it is written in SQL, for messages and tests.
func (v Verb) String() string {
	switch v {
	case Select:
		return "SELECT"
	case Insert:
		return "INSERT"
	case Wait:
		return "queue_wait"
	case End:
		return "queue_end"
	case Abort:
		return "queue_abort"
	case RowID:
		return "queue_rowid"
	case SetSource:
		return "queue_set_srcid"
	}
	return "no statement"
}

// A Statement is a recognized statement. Verb says which of the other fields are used. Its strings are parts of the
// query's text and keep all of that text alive. It is not changed after Parse, so it may be shared, and kept for as
// long as a prepared statement lives; nobody may write to its slices.
type Statement struct {
	Verb Verb

	// Calls (Wait, End, Abort, RowID, SetSource).

	Label string  // name of the result's only column: the alias, or else the call as it was written
	Args  []Value // strings, integers, decimals and placeholders. Wait: 1 to 64; SetSource: 3; the others: none

	// Select and Insert.

	Database string // "": the connection's database
	Table    string // as it was written, without quotes
	// as they were written, without quotes. nil: all of the table. Those of an Insert differ from each other in more
	// than case
	Columns []string

	// Placeholders is how many values have to be bound. In a query that was not prepared there may be none: such a text
	// is an error, which the long way reports.
	Placeholders int

	values []Value // of an Insert, row by row
	width  int     // values in a row, at least 1 in an Insert
}

// Len is the number of rows of an Insert, and 0 for the other statements.
func (s *Statement) Len() int {
	if s.width == 0 {
		return 0
	}
	return len(s.values) / s.width
}

// Width is the number of values in each row of an Insert. With Columns given it is their number; without, the door has
// to compare it with the table's.
func (s *Statement) Width() int { return s.width }

// Row is row i of an Insert, counted from 0. The slice belongs to the statement.
func (s *Statement) Row(i int) []Value {
	return s.values[i*s.width : (i+1)*s.width : (i+1)*s.width]
}
