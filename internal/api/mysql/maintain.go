package mysql

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// maintenance is a CHECK, OPTIMIZE, REPAIR, ANALYZE or CHECKSUM of tables.
var (
	maintenance = newForm(
		"(?is)^\\s*(check|optimize|repair|analyze|checksum)\\s+(?:no_write_to_binlog\\s+|local\\s+)?tables?\\s+((?:`(?:[^`]|``)+`|[\\w$.]|\\s*[.,]\\s*)+?)\\s*(?:(?:quick|fast|medium|extended|changed|for\\s+upgrade|use_frm)\\s*)*;?\\s*$")
	tableNamed = regexp.MustCompile("(?:(`(?:[^`]|``)+`|[\\w$]+)\\s*\\.\\s*)?(`(?:[^`]|``)+`|[\\w$]+)")
)

// maintain answers what maintenance programs ask of tables: there is nothing to be done, the journal is checked and
// cleaned beside the work. done: it was that.
func (l *long) maintain(ctx context.Context, s *session) (done bool, err error) {
	if m := histogram.parts(l.query); m != nil {
		return true, l.histograms(ctx, s, m)
	}
	m := maintenance.parts(l.query)
	if m == nil {
		return false, nil
	}
	op := strings.ToLower(m[1])
	tables, err := s.tablesNamed(m[2])
	if err != nil {
		return true, err
	}
	if op == "checksum" {
		return true, l.checksums(ctx, s, tables)
	}
	var rows [][]string
	for _, n := range tables {
		full := n.Namespace + "." + n.Name
		there, err := l.visible(ctx, s, n)
		if err != nil {
			return true, err
		}
		if there {
			rows = append(rows, []string{full, op, "status", "OK"})
			continue
		}
		rows = append(rows, []string{full, op, "Error", fmt.Sprintf("Table '%s' doesn't exist", full)})
		rows = append(rows, []string{full, op, "status", "Operation failed"})
	}
	return true, l.answerRows([]string{"Table", "Op", "Msg_type", "Msg_text"}, rows...)
}

// tablesNamed are the tables of a list of names.
func (s *session) tablesNamed(list string) (tables []queue.Name, err error) {
	for _, t := range tableNamed.FindAllStringSubmatch(list, -1) {
		n := queue.Name{Namespace: unquoted(t[1]), Name: unquoted(t[2])}
		if n.Namespace == "" {
			n.Namespace = s.GetCurrentDatabase()
		}
		if n.Namespace == "" {
			return nil, sqlError(1046, "3D000", "No database selected")
		}
		tables = append(tables, n)
	}
	return tables, nil
}

func unquoted(name string) string {
	if len(name) > 1 && name[0] == '`' {
		return strings.ReplaceAll(name[1:len(name)-1], "``", "`")
	}
	return name
}

// showGrants are a user's own grants, in MySQL's words.
var showGrants = newForm(`(?is)^\s*show\s+grants\s*(?:for\s+(.+?))?\s*;?\s*$`)

// grants answers SHOW GRANTS.
func (l *long) grants(s *session, of string) error {
	name := s.Client().User
	if !s.isNamed(of) {
		return sqlError(1044, "42000", "Access denied for user '%.96s' to the grants of another", name)
	}
	who := "`" + strings.ReplaceAll(name, "`", "``") + "`@`%`"
	rows := [][]string{}
	if !l.door.users.Any() {
		rows = append(rows, []string{"GRANT ALL PRIVILEGES ON *.* TO " + who})
	} else {
		rows = append(rows, []string{"GRANT USAGE ON *.* TO " + who})
		for _, g := range s.user.Grants {
			for _, on := range g.On {
				rows = append(rows, []string{"GRANT " + privileges(g.Can) + " ON " + l.pattern(on) + " TO " + who})
			}
		}
	}
	return l.answerRows([]string{"Grants for " + name + "@%"}, rows...)
}

// privileges are MySQL's for what a grant allows.
func privileges(can []string) string {
	var all []string
	for _, p := range []struct{ action, is string }{
		{string(access.Take), "SELECT, DELETE"}, {string(access.Put), "INSERT"},
		{string(access.Admin), "CREATE, ALTER, DROP"},
	} {
		if slices.Contains(can, p.action) {
			all = append(all, p.is)
		}
	}
	return strings.Join(all, ", ")
}

// pattern is what a grant is for: MySQL has no patterns of tables, so they are shown as they are.
func (l *long) pattern(on string) string {
	if on == "*" {
		return "*.*"
	}
	namespace, name, ok := strings.Cut(on, "/")
	if !ok {
		namespace, name = "default", on
	}
	if name != "*" {
		name = "`" + name + "`"
	}
	return "`" + namespace + "`." + name
}

var (
	// ofMariaDB is a comment that MariaDB alone reads, at the begin of a statement: the parser would read it.
	ofMariaDB = newForm(`^((?:\s|/\*[^!M](?:[^*]|\*+[^*/])*\*+/|--[^\n]*\n)*)/\*M!`)
	// flushLocal is a FLUSH that is not to be written to a binary log, of which there is none.
	flushLocal = newForm(`(?i)^\s*flush\s+(?:/\*!\d*\s*)?(?:local|no_write_to_binlog)\s*(?:\*/)?\s*`)
)

// flushNothing is a FLUSH of what is not there, or has nothing in it.
var flushNothing = newForm(
	`(?i)^\s*flush\s+(?:(?:(?:binary|engine|error|general|relay|slow)\s+)?logs|hosts|privileges|status|user_resources|optimizer_costs|query\s+cache|des_key_file)\s*;?\s*$`)

// setNoRole is a SET ROLE of no role by name: there are none.
var setNoRole = newForm(`(?i)^\s*set\s+role\s+(?:none|default|all)\s*;?\s*$`)

// Statements of dumps that are about replication. There is none: they are accepted, with a warning that says so.
var replication = newForm(
	`(?is)^\s*(?:change\s+(?:master|replication\s+source)\s+to\b|set\s+@@global\.gtid_purged\s*=|set\s+global\s+gtid_purged\s*=)`)

// positions passes over where a dump was taken.
func (l *long) positions(s *session) error {
	s.ClearWarnings()
	s.warn(erUnsupported, "This server has no replication: the position was not kept")
	return l.answerOK()
}

// yearWidth is YEAR(4), as dumps of older servers have it.
var yearWidth = newForm("(?i)(`\\s+|\\s)year\\s*\\(\\s*4\\s*\\)")
