package mysql

import (
	"slices"

	goms "github.com/dolthub/go-mysql-server"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
)

// showEngines makes information_schema say what engine there is.
func (d *Server) showEngines(e *goms.Engine) {
	ctx := gms.NewEmptyContext()
	db := e.Analyzer.Catalog.InfoSchema
	change := func(name string, wrap func(reader) reader) {
		t, ok, err := db.GetTableInsensitive(ctx, name)
		if table, is := t.(*information_schema.InformationSchemaTable); ok && err == nil && is {
			table.Reader = wrap(table.Reader)
		}
	}
	emptyWhereNothing(ctx, db)
	for _, name := range perTable {
		change(name, func(read reader) reader { return d.byTable(read, aboutColumns(name)) })
	}
	e.Analyzer.Catalog.InfoSchema = d.infoSchema(db)
	change(information_schema.TablesTableName,
		func(read reader) reader {
			return func(ctx *gms.Context, c gms.Catalog) (gms.RowIter, error) {
				iter, err := read(ctx, c)
				return ours{iter}, err
			}
		})
	change(information_schema.ProcessListTableName,
		func(read reader) reader {
			return func(ctx *gms.Context, c gms.Catalog) (gms.RowIter, error) {
				iter, err := read(ctx, c)
				s := sessionOf(ctx)
				if err != nil || s == nil || s.mayAdminAll() {
					return iter, err
				}
				rows, err := gms.RowIterToRows(ctx, iter)
				mine := s.mine()
				rows = slices.DeleteFunc(rows, func(row gms.Row) bool {
					id, _ := row[processID].(uint64)
					name, _ := row[processUser].(string)
					return !mine(uint32(id), name)
				})
				return gms.RowsToRowIter(rows...), err
			}
		})
	change(information_schema.EnginesTableName,
		func(reader) reader {
			return func(*gms.Context, gms.Catalog) (gms.RowIter, error) {
				return gms.RowsToRowIter(gms.Row{engineName, "DEFAULT", "Queues: rows are waited for, owned, and ended",
					"NO", "NO", "NO"}), nil
			}
		})
}

// ours are rows of information_schema.tables, with the engine that there is.
type ours struct{ gms.RowIter }

func (o ours) Next(ctx *gms.Context) (gms.Row, error) {
	row, err := o.RowIter.Next(ctx)
	if err == nil && row[tablesEngine] != nil {
		row[tablesEngine] = engineName
	}
	return row, err
}

// emptyWhereNothing makes the tables readable of which go-mysql-server reads nothing at all: their rows would be a nil
// iterator, and whoever reads one ends in a panic.
func emptyWhereNothing(ctx *gms.Context, db gms.Database) {
	names, _ := db.GetTableNames(ctx) // of what is in memory
	for _, name := range names {
		t, _, _ := db.GetTableInsensitive(ctx, name)
		table, ok := t.(*information_schema.InformationSchemaTable)
		if !ok || table.Reader == nil {
			continue
		}
		read := table.Reader
		table.Reader = func(ctx *gms.Context, c gms.Catalog) (gms.RowIter, error) {
			iter, err := read(ctx, c)
			if iter == nil && err == nil {
				iter = gms.RowsToRowIter()
			}
			return iter, err
		}
	}
}

// processUser is a column of information_schema.processlist. Statements may hold secrets: only who may do everything
// sees those of others.
const processUser = 1

// processID is another: of the connection.
const processID = 0

// tablesEngine is a column of information_schema.tables: NULL for what is no base table.
const tablesEngine = 4
