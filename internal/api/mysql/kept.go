package mysql

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/door"
)

// kept counts what a connection keeps in memory from one statement to the next: variables, prepared statements,
// warnings and locks. What all connections keep is bounded together, since there may be thousands of them. It belongs
// to the connection's goroutine.
type kept struct {
	of    *door.Busy
	taken int64

	values   map[string]int64 // bytes of each user variable
	user     int64            // of all
	prepared map[uint32]prepared
	trees    map[string]*tree // of prepared statements, by the text that go-mysql-server has
	named    map[string]int64 // bytes of each statement of a PREPARE, by its name
	locks    int64
	warnings int // the most that a statement left: go-mysql-server keeps as many
}

// prepared is a statement that the protocol's library keeps.
type prepared struct {
	bytes int64
	text  string // of its tree; "": none is kept
}

// tree is a parsed statement.
type tree struct {
	statement sqlparser.Statement
	bytes     int64
	users     int
}

// What is reckoned for what a connection keeps, in bytes.
const (
	// sessionBytes is the session of an idle connection, beside door.ConnStands, with the variables that drivers set.
	sessionBytes   = 16 << 10
	preparedBytes  = 1 << 10 // a prepared statement, beside its text and parameters
	parameterBytes = 64      // a parameter of a prepared statement: its type, and its place in the map of values
	treeBytes      = 64      // a byte of a statement that is parsed
	warningBytes   = 640
	lockBytes      = 512
)

// keepingShare is the part of what may stand open at the door that connections may keep: a half. The rest is for the
// connections themselves.
const keepingShare = 2

// maxTree is the longest statement that stays parsed while it is prepared. Longer ones are parsed for each execution.
const maxTree = 64 << 10

// errKept says that there is no room for more.
func errKept(what string) error {
	return sqlError(erOutOfResources, "HY000", "Out of memory: connections keep too much to keep %s (close statements "+
		"and connections that are not used; limits: busy_bytes bounds it)", what)
}

// change takes what now needs more than was did, or gives back what it needs less.
func (k *kept) change(was, now int64) bool {
	if now > was && !k.of.Try(now-was) {
		return false
	}
	k.of.Give(was - now)
	k.taken += now - was
	return true
}

// end gives all back.
func (k *kept) end() {
	k.of.Give(k.taken)
	*k = kept{of: k.of}
}

// prepare counts a statement that the protocol's library keeps, and keeps its tree if there is room for it.
func (k *kept) prepare(number uint32, bytes int, parameters uint16, parsed parsed) error {
	p := prepared{bytes: preparedBytes + int64(bytes) + int64(parameters)*parameterBytes}
	if !k.change(0, p.bytes) {
		return errKept("one more prepared statement")
	}
	if k.grow(parsed) {
		p.text = parsed.text
	}
	if k.prepared == nil {
		k.prepared = map[uint32]prepared{}
	}
	k.prepared[number] = p
	return nil
}

// grow keeps a tree for one more statement.
func (k *kept) grow(p parsed) bool {
	if p.statement == nil || len(p.text) > maxTree {
		return false
	}
	t := k.trees[p.text]
	if t == nil {
		t = &tree{statement: p.statement, bytes: int64(len(p.text)) * (1 + treeBytes)}
		if !k.change(0, t.bytes) {
			return false
		}
		if k.trees == nil {
			k.trees = map[string]*tree{}
		}
		k.trees[p.text] = t
	}
	t.users++
	return true
}

// forget is prepare undone. A number that is not known is passed over.
func (k *kept) forget(number uint32) {
	p := k.prepared[number]
	k.change(p.bytes, 0)
	delete(k.prepared, number)
	if t := k.trees[p.text]; t != nil {
		if t.users--; t.users == 0 {
			k.change(t.bytes, 0)
			delete(k.trees, p.text)
		}
	}
}

// name counts a statement that a PREPARE names. It stays counted when the PREPARE fails, until the name is used again
// or deallocated.
func (k *kept) name(name string, bytes int) error {
	was, again := k.named[name]
	if !again && len(k.named) >= maxPrepared {
		return errPrepared
	}
	n := preparedBytes + int64(len(name)) + int64(bytes)*treeBytes
	if !k.change(was, n) {
		return errKept("one more prepared statement")
	}
	if k.named == nil {
		k.named = map[string]int64{}
	}
	k.named[name] = n
	return nil
}

// warn tells whether the n-th warning of a statement may be kept.
func (k *kept) warn(n int) bool {
	if n <= k.warnings {
		return true
	}
	if !k.change(0, warningBytes) {
		return false
	}
	k.warnings = n
	return true
}

// lock counts one more lock, or one less.
func (k *kept) lock(more int64) bool {
	if !k.change(k.locks*lockBytes, (k.locks+more)*lockBytes) {
		return false
	}
	k.locks += more
	return true
}

// parsed is a statement that go-mysql-server has parsed to be executed with values.
type parsed struct {
	text      string
	statement sqlparser.Statement
}

// PrepareQuery is go-mysql-server's, which would keep all that was ever prepared. What is under a key that is a text is
// kept for the command alone, and longer only by kept.
func (s *session) PrepareQuery(key string, statement sqlparser.Statement) {
	if s.naming != "" && key == s.naming {
		s.BaseSession.PrepareQuery(key, statement)
		return
	}
	s.parsed = parsed{key, statement}
}

// GetPreparedQuery is go-mysql-server's.
func (s *session) GetPreparedQuery(key string) (sqlparser.Statement, bool) {
	if t := s.kept.trees[key]; t != nil {
		return t.statement, true
	}
	if s.parsed.statement != nil && s.parsed.text == key {
		return s.parsed.statement, true
	}
	return s.BaseSession.GetPreparedQuery(key)
}

// UnprepareQuery is go-mysql-server's, of DEALLOCATE PREPARE.
func (s *session) UnprepareQuery(name string) {
	s.kept.change(s.kept.named[name], 0)
	delete(s.kept.named, name)
	s.BaseSession.UnprepareQuery(name)
}
