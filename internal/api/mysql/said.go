package mysql

import (
	"strings"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// reworded are errors of go-mysql-server that MySQL has other words for: programs look for these, too, and not only for
// the numbers. What stands behind is kept.
var reworded = map[int][]struct {
	message form
	as      string
}{
	1007:          {{newForm(`^can't create database (.+); database exists`), "Can't create database '$1'; database exists"}},
	1048:          {{newForm(`^column name '(.+)' is non-nullable but .*`), "Column '$1' cannot be null"}},
	erBadDatabase: {{newForm(`^database not found: ([^,]+)`), "Unknown database '$1'"}},
	erTableExists: {{newForm(`^table with name (.+) already exists`), "Table '$1' already exists"}},
	1054: {
		{newForm(`^column "(.+)" could not be found in any table in scope`), "Unknown column '$1' in 'statement'"},
		{newForm(`^table "(.+)" does not have column "(.+)"`), "Unknown column '$2' in '$1'"},
	},
	3587:          {{newForm(`^a range's order by must be one expression.*`), rangeOrder}},
	erSyntax:      {{newForm(`^syntax error at `), "You have an error in your SQL syntax: syntax error at "}},
	1136:          {{newForm(`^number of values does not match number of columns provided`), "Column count doesn't match value count"}},
	erNoSuchTable: {{newForm(`^table not found: ([^,]+)`), "Table '$1' doesn't exist"}},
	1305:          {{newForm(`^function: '(.+)' not found`), "FUNCTION $1 does not exist"}},
}

// inMySQLsWords is an error with MySQL's words.
func inMySQLsWords(e *vmysql.SQLError) *vmysql.SQLError {
	for _, r := range reworded[e.Num] {
		if len(e.Message) <= maxReworded && r.message.is(e.Message) {
			return vmysql.NewSQLError(e.Num, e.State, "%s", r.message.replace(e.Message, r.as))
		}
	}
	return e
}

// worded is an error as the connection's client knows it. A table that there is not is named with its database, which
// go-mysql-server leaves out: programs look for it. s may be nil.
func (s *session) worded(err error) error {
	err = sqlErrorOf(err)
	e, ok := err.(*vmysql.SQLError)
	if !ok || e.Num != erNoSuchTable || s == nil {
		return err
	}
	name := noSuchTable.FindStringSubmatch(e.Message)
	if name == nil {
		return err
	}
	full := s.absent
	if _, table, _ := strings.Cut(full, "."); !strings.EqualFold(table, name[1]) {
		if strings.Contains(name[1], ".") || s.GetCurrentDatabase() == "" {
			return err
		}
		full = s.GetCurrentDatabase() + "." + name[1]
	}
	return vmysql.NewSQLError(e.Num, e.State, "Table '%s' doesn't exist%s", full, name[2])
}

// maxReworded is the longest text that is looked at: names have 64 characters.
const maxReworded = 1 << 10
