package mysql

import (
	"regexp"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// reworded are errors of go-mysql-server that MySQL has other words for: programs look for these, too, and not only for
// the numbers. What stands behind is kept.
var reworded = map[int][]struct {
	message *regexp.Regexp
	as      string
}{
	1007:          {{regexp.MustCompile(`^can't create database (.+); database exists`), "Can't create database '$1'; database exists"}},
	1048:          {{regexp.MustCompile(`^column name '(.+)' is non-nullable but .*`), "Column '$1' cannot be null"}},
	erBadDatabase: {{regexp.MustCompile(`^database not found: ([^,]+)`), "Unknown database '$1'"}},
	erTableExists: {{regexp.MustCompile(`^table with name (.+) already exists`), "Table '$1' already exists"}},
	1054: {
		{regexp.MustCompile(`^column "(.+)" could not be found in any table in scope`), "Unknown column '$1' in 'statement'"},
		{regexp.MustCompile(`^table "(.+)" does not have column "(.+)"`), "Unknown column '$2' in '$1'"},
	},
	erSyntax:      {{regexp.MustCompile(`^syntax error at `), "You have an error in your SQL syntax: syntax error at "}},
	1136:          {{regexp.MustCompile(`^number of values does not match number of columns provided`), "Column count doesn't match value count"}},
	erNoSuchTable: {{regexp.MustCompile(`^table not found: ([^,]+)`), "Table '$1' doesn't exist"}},
	1305:          {{regexp.MustCompile(`^function: '(.+)' not found`), "FUNCTION $1 does not exist"}},
}

// inMySQLsWords is an error with MySQL's words.
func inMySQLsWords(e *vmysql.SQLError) *vmysql.SQLError {
	for _, r := range reworded[e.Num] {
		if len(e.Message) <= maxReworded && r.message.MatchString(e.Message) {
			return vmysql.NewSQLError(e.Num, e.State, "%s", r.message.ReplaceAllString(e.Message, r.as))
		}
	}
	return e
}

// maxReworded is the longest text that is looked at: names have 64 characters.
const maxReworded = 1 << 10
