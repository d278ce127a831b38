package mysql

import (
	"context"
	"slices"
	"strconv"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// engineName is the storage engine of every table.
const engineName = "QUEUE"

// define looks at a CREATE, ALTER or RENAME: what asks for what a queue is not is refused before anything is done, and
// what go-mysql-server gets wrong is done here. What does not parse is left to whoever runs it.
func (l *long) define(sc *gms.Context, s *session) error {
	parsed, err := sqlparser.ParseWithOptions(sc, l.query, gms.LoadSqlMode(sc).ParserOptions())
	if err != nil && yearWidth.begins(l.query) {
		l.query = yearWidth.replaceFirst(l.query, "${1}year")
		parsed, err = sqlparser.ParseWithOptions(sc, l.query, gms.LoadSqlMode(sc).ParserOptions())
	}
	if err != nil {
		return nil
	}
	var parts []*sqlparser.DDL
	switch st := parsed.(type) {
	case *sqlparser.DDL:
		parts = []*sqlparser.DDL{st}
	case *sqlparser.AlterTable:
		parts = st.Statements
		if len(st.PartitionSpecs) > 0 {
			return noPartitions(st.Table.Name.String())
		}
		if engine := alterEngine.first(l.query); engine != nil && !strings.EqualFold(engine[1], engineName) {
			return unknownEngine(engine[1], st.Table.Name.String())
		}
	default:
		return nil
	}
	for _, d := range parts {
		if err := checkDDL(d); err != nil {
			return err
		}
	}
	if len(parts) == 1 && parts[0].OptSelect != nil && l.answer != nil {
		if there, err := l.isThere(sc, s, parts[0]); err != nil {
			return err
		} else if there {
			return l.answerOK()
		}
	}
	if len(parts) == 1 && parts[0].OptSelect != nil {
		if err := l.selects(sc, s, parts[0]); err != nil {
			return err
		}
	}
	if len(parts) == 1 && len(parts[0].ToTables) > 0 && len(parts[0].FromTables) == len(parts[0].ToTables) {
		return l.rename(sc, s, parts[0])
	}
	if len(parts) > 1 {
		l.gather(sc, s)
	}
	if s.fractions = fractions(parts); s.fractions != nil {
		l.query = sqlparser.String(parsed)
	}
	return nil
}

// isThere tells whether a CREATE TABLE IF NOT EXISTS has nothing to do, and leaves a note. go-mysql-server would go on
// to fill the table, and end in a panic.
func (l *long) isThere(ctx context.Context, s *session, d *sqlparser.DDL) (bool, error) {
	if !d.IfNotExists {
		return false, nil
	}
	db, name := d.Table.DbQualifier.String(), d.Table.Name.String()
	if db == "" {
		db = s.GetCurrentDatabase()
	}
	n, _, _, err := l.door.find(ctx, queue.Name{Namespace: db, Name: name})
	if err != nil || s.may(access.Admin, n, "CREATE") != nil {
		return false, absent(err)
	}
	s.note(1050, "Table '"+name+"' already exists")
	return true, nil
}

// selects refuses a CREATE TABLE … SELECT whose own columns are not all selected, before there is a table:
// go-mysql-server ends in a panic behind it.
func (l *long) selects(sc *gms.Context, s *session, d *sqlparser.DDL) error {
	if d.TableSpec == nil {
		return nil
	}
	selected, err := l.analyze(sc, s, sqlparser.String(d.OptSelect.Select))
	if err != nil {
		return err
	}
	schema := selected.Schema(sc)
	for _, c := range d.TableSpec.Columns {
		name := c.Name.String()
		if !slices.ContainsFunc(schema, func(s *gms.Column) bool { return strings.EqualFold(s.Name, name) }) {
			return sqlError(erUnsupported, "42000", "CREATE TABLE … SELECT fills the columns that are selected: "+
				"'%s' of '%s' is none of them (select it, or INSERT … SELECT afterwards)", name, d.Table.Name.String())
		}
	}
	return nil
}

// alterEngine finds the engine that an ALTER TABLE asks for: the parser passes over it.
var alterEngine = newForm("(?is)^[^'\"]*\\bengine\\s*=?\\s*`?(\\w+)")

func unknownEngine(engine, table string) error {
	return sqlError(erUnknownEngine, "42000", "Unknown storage engine '%s': tables here are queues, so '%s' needs "+
		"ENGINE=QUEUE (or no ENGINE at all)", engine, table)
}

func noPartitions(table string) error {
	return sqlError(erNotAllowedEngine, "42000", "The storage engine QUEUE has no partitions: leave them out of '%s' "+
		"(its rows are one line, the oldest first)", table)
}

// fractions takes the digits of a second away from TIME columns, which go-mysql-server does not know, and returns them
// by column.
func fractions(parts []*sqlparser.DDL) (digits map[string]int) {
	for _, d := range parts {
		if d.TableSpec == nil {
			continue
		}
		for _, c := range d.TableSpec.Columns {
			if strings.EqualFold(c.Type.Type, "time") && c.Type.Length != nil {
				n, _ := strconv.Atoi(string(c.Type.Length.Val))
				if digits == nil {
					digits = map[string]int{}
				}
				digits[strings.ToLower(c.Name.String())] = n
				c.Type.Length = nil
			}
		}
	}
	return digits
}

func checkDDL(d *sqlparser.DDL) error {
	if d.TriggerSpec != nil || d.ViewSpec != nil || d.ProcedureSpec != nil || d.EventSpec != nil {
		return sqlError(erUnsupported, "42000", "This server has tables of ENGINE=QUEUE and nothing else: no views, "+
			"triggers, procedures or events")
	}
	table := d.Table.Name.String()
	if x := d.IndexSpec; x != nil && x.Action == sqlparser.CreateStr {
		return noIndexes(table)
	}
	spec := d.TableSpec
	if spec == nil {
		return nil
	}
	if spec.PartitionOpt != nil {
		return noPartitions(table)
	}
	if d.Temporary {
		return sqlError(erNotAllowedEngine, "42000",
			"The storage engine QUEUE has no temporary tables: '%s' would be one", table)
	}
	for _, o := range spec.TableOpts {
		if strings.EqualFold(o.Name, "engine") && !strings.EqualFold(o.Value, engineName) {
			return unknownEngine(o.Value, table)
		}
		if strings.EqualFold(o.Name, "auto_increment") {
			return sqlError(erNotAllowedEngine, "42000", "The storage engine QUEUE can't number rows by "+
				"AUTO_INCREMENT (queue_rowid() numbers the rows of '%s', from 1)", table)
		}
	}
	if len(spec.Indexes) > 0 || len(spec.Constraints) > 0 {
		return noIndexes(table)
	}
	for _, c := range spec.Columns {
		if c.Type.KeyOpt != 0 {
			return noIndexes(table)
		}
		if c.Type.Autoincrement {
			return sqlError(erNotAllowedEngine, "42000", "The storage engine QUEUE can't number rows: column '%s' is "+
				"AUTO_INCREMENT (queue_rowid() numbers the rows of '%s', from 1)", c.Name.String(), table)
		}
	}
	return nil
}
