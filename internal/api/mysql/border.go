package mysql

import (
	"slices"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
)

// border is where a connection stands between BEGIN and COMMIT, or whatever begins and ends a transaction in MySQL.
// Effects are immediate all the same: what it is kept for is the warning of a ROLLBACK, and what packets say to clients
// that look there before they commit.
type border struct {
	autocommit bool
	explicit   bool // BEGIN was said
	readOnly   bool // START TRANSACTION READ ONLY was
	// a table was read or changed since the last border: without autocommit that begins a transaction
	touched   bool
	dirty     bool     // rows were put or removed within it
	points    []string // savepoints, the last one last
	noEscapes bool     // sql_mode has NO_BACKSLASH_ESCAPES: clients that escape values have to know
}

// changed notes that rows were put or removed: a ROLLBACK cannot take that back.
func (b *border) changed() { b.touched, b.dirty = true, b.explicit || !b.autocommit }

// read notes that a table was read.
func (b *border) read() { b.touched = true }

// auto is SET autocommit. Turned on, it commits what was begun without it; said again, it changes nothing.
func (b *border) auto(on bool) {
	if on && !b.autocommit {
		b.close()
	}
	if !on && b.autocommit && !b.explicit {
		b.touched, b.dirty = false, false
	}
	b.autocommit = on
}

func (b *border) close() {
	b.explicit, b.readOnly, b.touched, b.dirty, b.points = false, false, false, false, nil
}

// begin is BEGIN or START TRANSACTION, which end what was begun before.
func (b *border) begin(readOnly bool) {
	b.close()
	b.explicit, b.readOnly = true, readOnly
}

// end is COMMIT or ROLLBACK. It tells whether there was something that a ROLLBACK cannot take back.
func (b *border) end(chain bool) (dirty bool) {
	dirty, readOnly := b.dirty, b.readOnly
	b.close()
	b.explicit, b.readOnly = chain, chain && readOnly
	return dirty
}

// The bits of a packet's status that MySQL's own clients look at, and vitess has no names for.
const (
	statusNoBackslashEscapes = 0x0200
	statusInReadOnly         = 0x2000
)

const toldFlags = uint16(vmysql.ServerInTransaction) | uint16(vmysql.ServerStatusAutocommit) |
	statusNoBackslashEscapes | statusInReadOnly

// tell makes the connection's packets say how it stands.
func (b *border) tell(c *vmysql.Conn) {
	flags := c.StatusFlags &^ toldFlags
	if b.autocommit {
		flags |= uint16(vmysql.ServerStatusAutocommit)
	}
	if b.explicit || b.touched && !b.autocommit {
		flags |= uint16(vmysql.ServerInTransaction)
	}
	if b.explicit && b.readOnly {
		flags |= statusInReadOnly
	}
	if b.noEscapes {
		flags |= statusNoBackslashEscapes
	}
	c.StatusFlags = flags
}

// start is a START TRANSACTION with all that may follow it, also in a comment for newer servers, as mysqldump writes
// it.
var (
	start = newForm(
		`(?is)^\s*(?:/\*[^!].*?\*/\s*)*start\s+transaction(?:\s|/\*!\d*|\*/|,|with\s+consistent\s+snapshot|read\s+(?:only|write))*;?\s*$`)
	startReadOnly = newForm(`(?i)read\s+only`)
)

// border is at the begin and the end of what would be a transaction.
func (l *long) border(s *session, words []string) {
	readOnly := false
	if start.is(l.query) {
		readOnly = startReadOnly.is(l.query)
		l.query = "START TRANSACTION" // go-mysql-server does not know what follows it
	}
	if l.answer == nil || words[0] == "start" && l.query != "START TRANSACTION" {
		return
	}
	if words[0] == "begin" || words[0] == "start" {
		s.border.begin(readOnly)
		return
	}
	if slices.Contains(words, "to") { // ROLLBACK TO a savepoint
		return
	}
	chain := slices.Contains(words, "chain") && !slices.Contains(words, "no")
	if dirty := s.border.end(chain); !dirty || words[0] != "rollback" {
		return
	}
	answer := l.answer
	l.answer = func(r *sqltypes.Result, more bool) error { // go-mysql-server forgets earlier warnings when it begins
		s.warn(erNotRolledBack, "Some non-transactional changed tables couldn't be rolled back: what was inserted, "+
			"deleted and ended in queues stays so")
		return answer(r, more)
	}
}

// implicit ends a transaction that MySQL would commit before the statement.
func (l *long) implicit(s *session, words []string) {
	if l.answer == nil {
		return
	}
	switch words[0] {
	case "create", "alter", "drop", "rename", "truncate", "lock", "analyze", "check", "optimize", "repair", "flush":
		if len(words) < 2 || words[1] != "temporary" {
			s.border.close()
		}
	}
}
