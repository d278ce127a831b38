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
	change := func(name string, wrap func(read func(*gms.Context, gms.Catalog) (gms.RowIter, error)) func(*gms.Context,
		gms.Catalog) (gms.RowIter, error)) {
		t, ok, err := db.GetTableInsensitive(ctx, name)
		if table, is := t.(*information_schema.InformationSchemaTable); ok && err == nil && is {
			table.Reader = wrap(table.Reader)
		}
	}
	emptyWhereNothing(ctx, db)
	change(information_schema.TablesTableName,
		func(read func(*gms.Context, gms.Catalog) (gms.RowIter, error)) func(*gms.Context, gms.Catalog) (gms.RowIter,
			error) {
			return func(ctx *gms.Context, c gms.Catalog) (gms.RowIter, error) {
				iter, err := read(ctx, c)
				if err != nil {
					return nil, err
				}
				rows, err := gms.RowIterToRows(ctx, iter)
				for _, row := range rows {
					if row[tablesEngine] != nil {
						row[tablesEngine] = engineName
					}
				}
				return gms.RowsToRowIter(rows...), err
			}
		})
	change(information_schema.ProcessListTableName,
		func(read func(*gms.Context, gms.Catalog) (gms.RowIter, error)) func(*gms.Context, gms.Catalog) (gms.RowIter,
			error) {
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
		func(func(*gms.Context, gms.Catalog) (gms.RowIter, error)) func(*gms.Context, gms.Catalog) (gms.RowIter,
			error) {
			return func(*gms.Context, gms.Catalog) (gms.RowIter, error) {
				return gms.RowsToRowIter(gms.Row{engineName, "DEFAULT", "Queues: rows are waited for, owned, and ended",
					"NO", "NO", "NO"}), nil
			}
		})
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
