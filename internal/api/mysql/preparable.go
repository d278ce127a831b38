package mysql

import (
	"context"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/api/mysql/bounds"
	"github.com/hikyaku/hikyaku/internal/api/mysql/short"
	"github.com/hikyaku/hikyaku/internal/api/mysql/spelling"
)

// preparable reads a statement that is to be prepared, into UTF-8, and tells what is wrong with it, before the
// protocol's library sees it: of what it cannot parse it says that something is wrong, without MySQL's number.
func (h *handler) preparable(c *vmysql.Conn, query string, words bounds.Limits) (read string, err error) {
	defer h.panicked(c, &err)
	s := known(c)
	if s == nil || s.text.plain() {
		query = spelling.Rewrite(query, s == nil || !s.border.noEscapes)
		return query, h.parsable(c, query, words)
	}
	if read, err = s.text.in(query); err == nil {
		read = spelling.Rewrite(read, !s.border.noEscapes)
		err = h.parsable(c, read, words)
	}
	return read, s.text.said(err)
}

// parsable tells whether the protocol's library can parse it.
func (h *handler) parsable(c *vmysql.Conn, query string, words bounds.Limits) error {
	if err := bounds.Check(query, words); err != nil {
		return sqlErrorOf(err)
	}
	if _, ok := short.Parse(query, short.Mode{}); ok {
		return nil
	}
	if blank(query) {
		return sqlError(1065, "42000", "Query was empty")
	}
	options, err := h.ParserOptionsForConnection(c)
	if err != nil {
		return sqlErrorOf(err)
	}
	parsed, err := sqlparser.ParseWithOptions(context.Background(), query, options)
	if err == nil {
		return plannable(parsed)
	}
	switch firstWord(query) {
	case "set":
		if setNoRole.is(query) {
			return errNotPrepared()
		}
	case "do", "start", "show", "describe", "desc", "explain", "check", "optimize", "repair", "analyze", "checksum",
		"flush", "lock", "change":
		// It may be one that the door puts otherwise before it is parsed. Drivers send it as text when they are told
		// this.
		return errNotPrepared()
	}
	return sqlErrorOf(gms.ErrSyntaxError.New(err.Error()))
}

// plannable refuses what can be parsed and never planned: statements about prepared ones, as with MySQL, and a FLUSH
// that the door answers itself.
func plannable(statement sqlparser.Statement) error {
	switch statement := statement.(type) {
	case *sqlparser.Prepare, *sqlparser.Execute, *sqlparser.Deallocate:
		return errNotPrepared()
	case *sqlparser.Flush:
		switch strings.ToLower(statement.Option.Name) {
		case "privileges", "table", "tables":
		default:
			return errNotPrepared()
		}
	}
	return nil
}

func errNotPrepared() error {
	return sqlError(1295, "HY000", "This command is not supported in the prepared statement protocol yet")
}
