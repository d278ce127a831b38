package mysql

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/api/mysql/bounds"
	"github.com/hikyaku/hikyaku/internal/api/mysql/spelling"
)

// long is a statement on the long way, before go-mysql-server gets it: what a queue cannot do is refused before
// anything is done, what go-mysql-server does not know is answered or put otherwise, and what it says of engines is
// corrected.
type long struct {
	*handler
	conn   *vmysql.Conn
	query  string               // in and out
	answer vmysql.ResultSpoolFn // in and out; nil: the statement is only prepared
	more   bool                 // other statements follow
	done   bool                 // it was answered, or will be when it is executed
	fields []*querypb.Field     // of what was answered
	silent bool                 // it is a DO: what it evaluates to is not answered

	bound *vmysql.PrepareData // values of a prepared statement that is executed; nil: it is none
	fixed bool                // times and dates were written otherwise

	begin, end func() // around each try to run it; nil: nothing
}

// look looks at the statement. After an error it is not to be run; if it is done, it was.
func (l *long) look(ctx context.Context) error {
	l.query = ofMariaDB.replaceFirst(l.query, "${1}/*")
	words := firstWords(l.query)
	if blank(l.query) {
		if l.answer != nil && strings.ContainsAny(l.query, "/-#") { // as in dumps, for other servers
			return l.answerOK()
		}
		return sqlError(1065, "42000", "Query was empty")
	}
	s, sc, err := l.session(ctx, l.conn)
	if err != nil {
		return err
	}
	s.absent = ""
	s.warned = uint16(len(s.Warnings())) // SHOW WARNINGS forgets the count
	if l.answer != nil && words[0] != "show" && words[0] != "set" {
		s.ClearWarnings()
	}
	l.query = spelling.Rewrite(l.query, !s.border.noEscapes)
	if err := bounds.Check(l.query, s.allowance().words); err != nil {
		return err
	}
	if !s.border.noEscapes {
		l.query = keepWildcards(l.query)
	}
	if words[0] == "do" { // go-mysql-server has none
		l.query, l.silent = "SELECT"+skipSpace(l.query)[len("do"):], true
	}
	if l.answer != nil && replication.begins(l.query) {
		return l.positions(s)
	}
	if l.answer != nil && words[0] == "set" && setNoRole.is(l.query) {
		return l.answerOK()
	}
	if err := refuse(words); err != nil {
		return err
	}
	if misplacedWait(l.query) {
		return sqlError(erWrongArguments, "HY000", "queue_wait() has to stand alone, in SELECT queue_wait(…): beside "+
			"a table or in a condition it would be evaluated for each row")
	}
	if err := misplacedWindow(l.query); err != nil {
		return err
	}
	if writesFile(l.query) {
		return sqlError(erOptionPrevents, "HY000", "This server writes no files: SELECT … INTO OUTFILE is not "+
			"supported (the client can write what it gets)")
	}
	if l.answer != nil {
		l.answer = plainFloats(plainTimes(ctx, l.door, l.answer), l.bound != nil)
	}
	l.implicit(s, words)
	switch words[0] {
	case "create", "alter", "rename":
		return l.define(sc, s)
	case "prepare":
		return l.prepare(sc, s)
	case "show":
		return l.show(sc, s, words)
	case "describe", "desc", "explain":
		if done, err := l.explain(sc, s); done {
			return err
		}
		l.query = describePattern.replace(l.query, "SHOW COLUMNS FROM $1 LIKE $2")
		l.query = describeColumn.replace(l.query, "SHOW COLUMNS FROM $1 LIKE '$2$3'")
		return l.correctColumns(sc, s)
	case "drop":
		if l.dropNothing(s, words) {
			return l.answerOK()
		}
	case "kill":
		return l.kill(s)
	case "set":
		return l.set(s)
	case "flush":
		l.query = flushLocal.replace(l.query, "FLUSH ")
		if l.answer != nil && flushNothing.is(l.query) {
			return l.answerOK()
		}
	case "check", "optimize", "repair", "analyze", "checksum":
		_, err := l.maintain(ctx, s)
		return err
	case "begin", "start", "commit", "rollback":
		l.border(s, words)
		if words[0] == "rollback" && slices.Contains(words, "to") {
			return l.savepoint(s)
		}
	case "savepoint", "release":
		return l.savepoint(s)
	}
	return nil
}

// maxTries is how often a statement is begun whose table is altered under it.
const maxTries = 5

// run lets go-mysql-server answer. A statement is begun again when its table was altered before anything was answered.
func (l *long) run(ctx context.Context, do func(vmysql.ResultSpoolFn) error) error {
	if err := l.rawBytes(ctx); err != nil {
		return err
	}
	if l.end != nil {
		defer l.end()
	}
	for try := 1; ; try++ {
		if l.begin != nil {
			l.begin()
		}
		spoke := false
		err := l.failed(do(func(r *sqltypes.Result, _ bool) error {
			if !spoke {
				l.tell()
			}
			spoke = true
			if l.silent {
				return nil
			}
			if r.RowsAffected > 0 && len(r.Fields) == 0 && firstWord(l.query) == "truncate" {
				r.RowsAffected = 0 // as MySQL, which does not count
			}
			r.Info = "" // the protocol's library would put it into the packet in a way that clients cannot read
			return l.answer(r, l.more)
		}))
		if err == nil && l.silent {
			l.tell()
			return l.answer(&sqltypes.Result{}, l.more)
		}
		var said *vmysql.SQLError
		if !spoke && !l.fixed && errors.As(err, &said) && misread[said.Num] && firstWord(l.query) == "insert" {
			l.fixed = true
			if s := known(l.conn); s != nil {
				changed, failed := l.fit(ctx, s)
				if failed != nil {
					return failed
				}
				if changed {
					continue
				}
			}
		}
		if spoke || try == maxTries || !errors.As(err, &said) || said.Num != erTableDefChanged {
			return err
		}
	}
}

// failed is the error that a statement ended with, as clients know it. What is to be dropped has errors of its own.
func (l *long) failed(err error) error {
	err = known(l.conn).worded(err)
	var said *vmysql.SQLError
	if !errors.As(err, &said) || firstWord(l.query) != "drop" {
		return err
	}
	if name := noSuchTable.FindStringSubmatch(said.Message); said.Num == erNoSuchTable && name != nil {
		return sqlError(erBadTable, "42S02", "Unknown table '%s'%s", name[1], name[2])
	}
	if name := noSuchDatabase.FindStringSubmatch(said.Message); said.Num == erBadDatabase && name != nil {
		return sqlError(erDropDatabase, "HY000", "Can't drop database '%s'; database doesn't exist%s", name[1], name[2])
	}
	return err
}

// What is said of a table and a database that there is not.
var (
	noSuchTable    = regexp.MustCompile(`^Table '(.+)' doesn't exist(.*)$`)
	noSuchDatabase = regexp.MustCompile(`^Unknown database '(.+)'(.*)$`)
)

// misread are the errors of values that go-mysql-server may not have read as MySQL does.
var misread = map[int]bool{erWrongTime: true, erWrongValue: true, erDataTruncated: true}

// answerRows answers with rows of text.
func (l *long) answerRows(names []string, rows ...[]string) error {
	var fields []*querypb.Field
	for _, n := range names {
		fields = append(fields, &querypb.Field{Name: n, OrgName: n, Type: sqltypes.VarChar, Charset: utf8mb4,
			ColumnLength: 1 << 16})
	}
	var all [][]sqltypes.Value
	for _, row := range rows {
		values := make([]sqltypes.Value, len(row))
		for i, text := range row {
			values[i] = sqltypes.MakeTrusted(sqltypes.VarChar, []byte(text))
		}
		all = append(all, values)
	}
	return l.answerTable(fields, all)
}

// answerText answers with one text.
func (l *long) answerText(name, text string) error {
	return l.answerRows([]string{name}, []string{text})
}

// answerTable answers with rows.
func (l *long) answerTable(fields []*querypb.Field, rows [][]sqltypes.Value) error {
	r := &sqltypes.Result{Fields: fields, Rows: rows, RowsAffected: uint64(len(rows))}
	l.done, l.fields = true, r.Fields
	if l.answer == nil {
		return nil
	}
	l.tell()
	return l.answer(r, l.more)
}

// tell makes what is sent from now on say how the connection stands.
func (l *long) tell() {
	if s := known(l.conn); s != nil {
		s.border.tell(l.conn)
	}
}

// utf8mb4 is the number of a character set in a field.
const utf8mb4 = 255

// answerOK answers without rows.
func (l *long) answerOK() error {
	l.done = true
	l.tell()
	return l.answer(&sqltypes.Result{}, l.more)
}

// set refuses to set what holds for everybody to those who may not do everything.
func (l *long) set(s *session) error {
	st, _, err := sqlparser.ParseOne(context.Background(), l.query)
	if err != nil {
		return nil
	}
	set, ok := st.(*sqlparser.Set)
	if !ok {
		return nil
	}
	for _, e := range set.Exprs {
		switch e.Scope {
		case sqlparser.SetScope_Persist, sqlparser.SetScope_PersistOnly:
			return sqlError(erUnsupported, "42000", "This server keeps no variables: SET PERSIST is not supported "+
				"(SET GLOBAL holds until it stops)")
		case sqlparser.SetScope_Global:
			if !s.mayAdminAll() {
				why := "you need the grant \"admin\" on \"*\" for SET GLOBAL"
				if other := s.otherAccount(); other != nil {
					why = "SET GLOBAL is refused: " + other.Whole()
				}
				return sqlError(1227, "42000", "Access denied; %s", why)
			}
			if err := settable(e.Name.String()); err != nil {
				return err
			}
		case sqlparser.SetScope_None, sqlparser.SetScope_Session:
			name := e.Name.Name.Lowered()
			_, _, known := gms.SystemVariables.GetGlobal(name)
			if !known && !setWords[name] && e.Name.Qualifier.IsEmpty() && !strings.HasPrefix(name, "@") {
				return sqlError(1193, "HY000", "Unknown system variable '%s'", name)
			}
		}
	}
	return nil
}

// setWords stand where a variable does, and are none.
var setWords = map[string]bool{"names": true, "charset": true, "transaction": true}

// settable refuses a SET GLOBAL of what holds for the whole server: here it is a setting of the configuration, or means
// nothing.
func settable(name string) error {
	v, _, ok := gms.SystemVariables.GetGlobal(name)
	if ok && (v.IsGlobalOnly() || v.IsReadOnly()) {
		return sqlError(1238, "HY000", "Variable '%s' is a read only variable (here it is a setting of the server's "+
			"configuration, or has no effect)", v.GetName())
	}
	return nil
}

// kill refuses to end what is not there, or another's.
func (l *long) kill(s *session) error {
	st, err := sqlparser.Parse(l.query)
	if err != nil {
		return nil
	}
	k, ok := st.(*sqlparser.Kill)
	if !ok {
		return nil
	}
	v, ok := k.ConnID.(*sqlparser.SQLVal)
	if !ok {
		return nil
	}
	id := wholeNumber(argument{text: string(v.Val)})
	for _, p := range l.door.processes.Processes() {
		if int64(p.Connection) != id {
			continue
		}
		if !s.mayAdminAll() && !s.mine()(p.Connection, p.User) {
			return sqlError(1095, "HY000", "You are not owner of thread %d", id)
		}
		return nil
	}
	return sqlError(1094, "HY000", "Unknown thread id: %d", id)
}

// prepare looks at the statement in a PREPARE … FROM, which go-mysql-server will run without asking again.
func (l *long) prepare(sc *gms.Context, s *session) error {
	st, err := sqlparser.Parse(l.query)
	if err != nil {
		return nil
	}
	p, ok := st.(*sqlparser.Prepare)
	if !ok {
		return nil
	}
	text := p.Expr
	if name, ok := strings.CutPrefix(text, "@"); ok {
		_, v, err := s.GetUserVariable(sc, name)
		if err != nil {
			return err
		}
		a, err := asArgument(sc, v)
		if err != nil {
			return err
		}
		text = a.text
	}
	inner := &long{handler: l.handler, conn: l.conn, query: text}
	if err := inner.look(sc); err != nil {
		return err
	}
	if inner.query != text {
		return errNotPrepared()
	}
	s.naming = p.Name
	return s.kept.name(p.Name, len(text))
}
