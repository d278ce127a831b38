package mysql

import (
	"strings"
	"sync"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Columns of information_schema.columns.
const (
	columnSchema     = 1
	columnTable      = 2
	columnName       = 3
	columnData       = 7
	columnDigits     = 12
	columnType       = 15
	columnPrivileges = 18
)

// correctColumnsTable makes information_schema.columns say what the user may do with a column, and how many digits of a
// second it has. go-mysql-server makes the table anew for each statement.
var correctColumnsTable = sync.OnceFunc(func() {
	made := information_schema.NewColumnsTable
	information_schema.NewColumnsTable = func() *information_schema.ColumnsTable {
		t := made()
		read := t.RowIter
		t.RowIter = func(ctx *gms.Context, c gms.Catalog, all gms.Schema) (gms.RowIter, error) {
			iter, err := read(ctx, c, all)
			s := sessionOf(ctx)
			if err != nil || s == nil {
				return iter, err
			}
			rows, err := gms.RowIterToRows(ctx, iter)
			if err == nil {
				err = s.correctColumnRows(ctx, rows)
			}
			return gms.RowsToRowIter(rows...), err
		}
		return t
	}
})

// correctColumnRows corrects the rows of information_schema.columns, of which those of a table follow each other.
func (s *session) correctColumnRows(ctx *gms.Context, rows []gms.Row) error {
	var of queue.Name
	var columns message.Columns
	may := ""
	for _, row := range rows {
		db, _ := row[columnSchema].(string)
		table, _ := row[columnTable].(string)
		if n := (queue.Name{Namespace: db, Name: table}); n != of {
			found, def := n, queue.Definition{}
			if s.door.hasDatabase(db) {
				var err error
				if found, def, _, err = s.door.find(ctx, n); absent(err) != nil {
					return absent(err)
				}
			}
			of, columns, may = n, def.Columns, s.columnPrivileges(found)
		}
		row[columnPrivileges] = may
		switch row[columnData] {
		case "date":
			row[columnDigits] = nil
		case "time":
			name, _ := row[columnName].(string)
			if i, ok := columns.Lookup(name); ok && columns[i].Type == message.TypeTime {
				row[columnDigits], row[columnType] = columns[i].Length, columns[i].SQLType()
			}
		}
	}
	return nil
}

// columnPrivileges are the privileges that MySQL shows of a table's columns. UPDATE is among those of who may do
// everything, as in ALL PRIVILEGES, though there is none.
func (s *session) columnPrivileges(n queue.Name) string {
	if strings.EqualFold(n.Namespace, gms.InformationSchemaDatabaseName) {
		return "select"
	}
	var all []string
	if s.may(access.Take, n, "") == nil {
		all = append(all, "select")
	}
	if s.may(access.Put, n, "") == nil {
		all = append(all, "insert")
	}
	if len(all) == 2 && s.may(access.Admin, n, "") == nil {
		all = append(all, "update", "references")
	}
	return strings.Join(all, ",")
}
