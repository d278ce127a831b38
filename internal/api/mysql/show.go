package mysql

import (
	"context"
	"crypto/tls"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/api/mysql/compress"
	"github.com/hikyaku/hikyaku/internal/message"
)

// countKept is SHOW COUNT(*) WARNINGS or ERRORS.
var countKept = newForm(`(?is)^\s*show\s+count\s*\(\s*\*\s*\)\s*(warning|error)s\s*;?\s*$`)

// show answers a SHOW that go-mysql-server does not know, or corrects what it will say.
func (l *long) show(sc *gms.Context, s *session, words []string) error {
	words = slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool {
		return w == "full" || w == "extended" || w == "global" || w == "session"
	})
	if done, err := l.showAbsent(s, words); done {
		return err
	}
	two := strings.Join(words[:min(2, len(words))], " ")
	switch {
	case len(words) == 0:
	case two == "create table":
		return l.correctCreateTable(sc, s)
	case two == "table status":
		l.correct(func(fields []*querypb.Field, row []sqltypes.Value) {
			if i := field(fields, "Engine"); i >= 0 && !row[i].IsNull() {
				row[i] = sqltypes.MakeTrusted(row[i].Type(), []byte(engineName))
			}
		})
	case words[0] == "columns", words[0] == "fields":
		return l.correctColumns(sc, s)
	case words[0] == "status":
		return l.correctStatus(sc)
	case words[0] == "processlist" && !s.mayAdminAll():
		l.query = "SELECT id AS Id, user AS User, host AS Host, db, command AS Command, time AS Time, state AS " +
			"State, info AS Info" +
			" FROM information_schema.processlist ORDER BY id"
	case two == "storage engines":
		l.query = "SHOW ENGINES"
	case words[0] == "schemas":
		l.query = schemas.replace(l.query, "${1}databases")
		l.namePattern()
	case words[0] == "databases", words[0] == "tables":
		l.namePattern()
	case words[0] == "engine" && len(words) > 2 && words[2] == "status":
		return l.engineStatus(sc, s, words[1])
	case words[0] == "grants":
		if m := showGrants.parts(l.query); m != nil {
			return l.grants(s, m[1])
		}
	case words[0] == "count":
		if m := countKept.parts(l.query); m != nil {
			name := strings.ToLower(m[1]) + "_count"
			n, err := s.GetSessionVariable(sc, name)
			if err != nil {
				return err
			}
			return l.answerRows([]string{"@@session." + name}, []string{text64(n)})
		}
	case words[0] == "errors":
		return l.answerRows([]string{"Level", "Code", "Message"})
	case two == "open tables":
		return l.answerRows([]string{"Database", "Table", "In_use", "Name_locked"})
	case words[0] == "plugins":
		return l.answerRows([]string{"Name", "Status", "Type", "Library", "License"})
	case words[0] == "profiles": // nothing is profiled
		return l.answerRows([]string{"Query_ID", "Duration", "Query"})
	case words[0] == "profile":
		return l.answerRows([]string{"Status", "Duration"})
	case words[0] == "collation", two == "slave status", two == "function status":
		l.nameColumns()
	}
	return nil
}

// columnNames are MySQL's names of columns that go-mysql-server's SHOW calls otherwise, in small letters.
var columnNames = map[string]string{
	"collation": "Collation", "charset": "Charset", "id": "Id", "default": "Default", "compiled": "Compiled",
	"sortlen": "Sortlen", "pad_attribute": "Pad_attribute", "character_set_client": "character_set_client",
	"collation_connection": "collation_connection",
}

// nameColumns gives the columns of the answer MySQL's names.
func (l *long) nameColumns() {
	if l.answer == nil {
		return
	}
	answer := l.answer
	l.answer = func(r *sqltypes.Result, more bool) error {
		for _, f := range r.Fields {
			f.Name = strings.Replace(f.Name, "Slavete_", "Replicate_", 1)
			if own := columnNames[strings.ToLower(f.Name)]; own != "" {
				f.Name = own
			}
			f.OrgName = f.Name
		}
		return answer(r, more)
	}
}

// namePattern has the first column of the answer name the pattern that was asked for: "Tables_in_test (a%)".
func (l *long) namePattern() {
	st, err := sqlparser.Parse(l.query)
	show, ok := st.(*sqlparser.Show)
	if l.answer == nil || err != nil || !ok { // what does not parse is refused by who carries it out
		return
	}
	filter := show.Filter
	if o := show.ShowTablesOpt; o != nil {
		filter = o.Filter
	}
	if filter == nil || filter.Like == "" {
		return
	}
	answer := l.answer
	l.answer = func(r *sqltypes.Result, more bool) error {
		if len(r.Fields) > 0 {
			f := r.Fields[0]
			f.Name += " (" + filter.Like + ")"
			f.OrgName = f.Name
		}
		return answer(r, more)
	}
}

var schemas = newForm(`(?is)^(.*?\bshow\s+)schemas\b`)

// correct changes the rows of the answer.
func (l *long) correct(change func(fields []*querypb.Field, row []sqltypes.Value)) {
	if l.answer == nil {
		return
	}
	answer := l.answer
	var fields []*querypb.Field
	l.answer = func(r *sqltypes.Result, more bool) error {
		if len(r.Fields) > 0 {
			fields = r.Fields
		}
		for _, row := range r.Rows {
			change(fields, row)
		}
		return answer(r, more)
	}
}

// leaveOut takes rows out of the answer.
func (l *long) leaveOut(out func(fields []*querypb.Field, row []sqltypes.Value) bool) {
	if l.answer == nil {
		return
	}
	answer := l.answer
	var fields []*querypb.Field
	l.answer = func(r *sqltypes.Result, more bool) error {
		if len(r.Fields) > 0 {
			fields = r.Fields
		}
		r.Rows = slices.DeleteFunc(r.Rows, func(row []sqltypes.Value) bool { return out(fields, row) })
		return answer(r, more)
	}
}

// field finds a column of an answer, -1 if it has none.
func field(fields []*querypb.Field, name string) int {
	return slices.IndexFunc(fields, func(f *querypb.Field) bool { return strings.EqualFold(f.Name, name) })
}

// innoDB is the engine in what SHOW CREATE TABLE prints: behind the columns' closing parenthesis, not in a comment or
// default.
var innoDB = regexp.MustCompile(`(?m)^\) ENGINE=InnoDB`)

// timeColumn is a TIME column in it: go-mysql-server gives all of them six digits.
var timeColumn = regexp.MustCompile("(?m)^  `((?:[^`]|``)+)` time\\(6\\)")

func (l *long) correctCreateTable(ctx context.Context, s *session) error {
	_, columns, err := l.columnsOf(ctx, s)
	l.correct(func(fields []*querypb.Field, row []sqltypes.Value) {
		i := field(fields, "Create Table")
		if i < 0 {
			return
		}
		text := innoDB.ReplaceAll(row[i].ToBytes(), []byte(") ENGINE="+engineName))
		text = timeColumn.ReplaceAllFunc(text, func(line []byte) []byte {
			name := strings.ReplaceAll(string(timeColumn.FindSubmatch(line)[1]), "``", "`")
			if n, ok := columns.Lookup(name); ok {
				return []byte("  `" + strings.ReplaceAll(name, "`", "``") + "` " + columns[n].SQLType())
			}
			return line
		})
		text = choiceColumn.ReplaceAllFunc(text, func(line []byte) []byte { return choiceLine(columns, line) })
		row[i] = sqltypes.MakeTrusted(row[i].Type(), text)
	})
	return err
}

// noise is what MySQL does not show with a column's type.
var noise = regexp.MustCompile(` (CHARACTER SET|COLLATE) \w+`)

// describePattern is a DESCRIBE of those columns whose names are like a pattern. The parser does not know it.
var describePattern = newForm(
	"(?is)^\\s*(?:describe|desc|explain)\\s+((?:`(?:[^`]|``)+`|[\\w$]+)(?:\\s*\\.\\s*(?:`(?:[^`]|``)+`|[\\w$]+))?)\\s*('(?:[^'\\\\]|''|\\\\.)*')\\s*;?\\s*$")

// describeColumn is a DESCRIBE of one column by its name.
var describeColumn = newForm(
	"(?is)^\\s*(?:describe|desc|explain)\\s+((?:`(?:[^`]|``)+`|[\\w$]+)(?:\\s*\\.\\s*(?:`(?:[^`]|``)+`|[\\w$]+))?)" +
		"\\s+(?:`([^`'\\\\]+)`|([\\w$]+))\\s*;?\\s*$")

// encryption finds how a connection is encrypted: by itself, or below what counts its bytes.
func encryption(conn net.Conn) (state tls.ConnectionState, ok bool) {
	for {
		switch c := conn.(type) {
		case interface{ ConnectionState() tls.ConnectionState }:
			return c.ConnectionState(), true
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return state, false
		}
	}
}

// statusValues are the status variables that the door knows better.
func (d *Server) statusValues(ctx context.Context, compressed bool) (map[string]string, error) {
	queues, err := d.store.Queues(ctx)
	if err != nil {
		return nil, fromStore(err, "")
	}
	statements, running := strconv.FormatInt(d.counts.statements.Load(), 10), 0
	for _, p := range d.processes.Processes() {
		if p.Command == gms.ProcessCommandQuery {
			running++
		}
	}
	up, open := strconv.FormatInt(max(d.uptime(), 1), 10), strconv.FormatInt(d.limit.open.Load(), 10)
	values := map[string]string{
		"uptime": up, "uptime_since_flush_status": up, "questions": statements, "queries": statements,
		"threads_connected": open, "threads_running": strconv.Itoa(max(running, 1)),
		"open_tables": strconv.Itoa(len(queues)), "compression": "OFF",
	}
	if compressed {
		values["compression"] = "ON"
	}
	return values, nil
}

// ofPlugin begins the names of status variables that go-mysql-server has also with a point in the place of the last
// letter, as MySQL's component has them: no server has both, and programs that make one letter of all punctuation fail.
const ofPlugin = "validate_password_"

// correctStatus makes SHOW STATUS tell what the door counts, and how the connection is encrypted.
func (l *long) correctStatus(ctx context.Context) error {
	state, encrypted := encryption(l.conn.Conn)
	own, err := l.door.statusValues(ctx, compress.Compressed(l.conn.Conn))
	if err != nil {
		return err
	}
	l.leaveOut(func(fields []*querypb.Field, row []sqltypes.Value) bool {
		name := field(fields, "Variable_name")
		return name >= 0 && strings.HasPrefix(strings.ToLower(row[name].ToString()), ofPlugin)
	})
	l.correct(func(fields []*querypb.Field, row []sqltypes.Value) {
		name, value := field(fields, "Variable_name"), field(fields, "Value")
		if name < 0 || value < 0 {
			return
		}
		text := ""
		variable := strings.ToLower(row[name].ToString())
		known := false
		switch {
		case variable == "ssl_cipher" && encrypted:
			text = tls.CipherSuiteName(state.CipherSuite)
		case variable == "ssl_version" && encrypted:
			text = strings.Replace(tls.VersionName(state.Version), "TLS 1", "TLSv1", 1)
		default:
			if text, known = own[variable]; !known {
				return
			}
		}
		row[value] = sqltypes.MakeTrusted(row[value].Type(), []byte(text))
	})
	return nil
}

// correctColumns makes DESCRIBE and SHOW COLUMNS show types, defaults and privileges as MySQL does.
func (l *long) correctColumns(ctx context.Context, s *session) error {
	n, columns, err := l.columnsOf(ctx, s)
	privileges := s.columnPrivileges(n)
	l.correct(func(fields []*querypb.Field, row []sqltypes.Value) {
		name, typ, def := field(fields, "Field"), field(fields, "Type"), field(fields, "Default")
		if name < 0 || typ < 0 || def < 0 {
			return // an EXPLAIN of a statement
		}
		if i := field(fields, "Privileges"); i >= 0 {
			row[i] = sqltypes.MakeTrusted(row[i].Type(), []byte(privileges))
		}
		text := noise.ReplaceAllString(row[typ].ToString(), "")
		if n, ok := columns.Lookup(row[name].ToString()); ok && columns[n].Type == message.TypeTime {
			text = columns[n].SQLType()
		}
		row[typ] = sqltypes.MakeTrusted(row[typ].Type(), []byte(text))
		if d := row[def].ToString(); len(d) > 1 && d[0] == '\'' && d[len(d)-1] == '\'' {
			row[def] = sqltypes.MakeTrusted(row[def].Type(), []byte(strings.ReplaceAll(d[1:len(d)-1], "''", "'")))
		}
	})
	return err
}
