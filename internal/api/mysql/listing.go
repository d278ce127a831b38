package mysql

import (
	"errors"
	"io"
	"slices"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// reader makes the rows of a table of information_schema.
type reader = func(*gms.Context, gms.Catalog) (gms.RowIter, error)

// perTable are the tables of information_schema with rows about tables, but for columns and statistics.
var perTable = []string{
	information_schema.TablesTableName, information_schema.TablesExtensionsTableName,
	information_schema.ColumnStatisticsTableName, information_schema.ColumnsExtensionsTableName,
	information_schema.KeyColumnUsageTableName, information_schema.ReferentialConstraintsTableName,
	information_schema.CheckConstraintsTableName, information_schema.TableConstraintsTableName,
	information_schema.TableConstraintsExtensionsTableName, information_schema.StGeometryColumnsTableName,
}

// aboutColumns tells whether the rows of one of them are about columns.
func aboutColumns(name string) bool {
	return name == information_schema.ColumnStatisticsTableName ||
		name == information_schema.ColumnsExtensionsTableName || name == information_schema.StGeometryColumnsTableName
}

// infoSchema is information_schema: go-mysql-server's, but for columns and statistics, which it makes anew for each
// statement or keeps out of reach.
type infoSchema struct {
	gms.Database
	door       *Server
	statistics *information_schema.InformationSchemaTable
}

func (d *Server) infoSchema(db gms.Database) *infoSchema {
	statistics := information_schema.NewDefaultStats().InformationSchemaTable
	statistics.Reader = d.byTable(statistics.Reader, false)
	return &infoSchema{db, d, statistics}
}

func (s *infoSchema) GetTableInsensitive(ctx *gms.Context, name string) (gms.Table, bool, error) {
	if strings.EqualFold(name, information_schema.StatisticsTableName) {
		return s.statistics, true, nil
	}
	t, ok, err := s.Database.GetTableInsensitive(ctx, name)
	if _, is := t.(*information_schema.ColumnsTable); is {
		return &columnsTable{Table: t, door: s.door}, true, nil
	}
	return t, ok, err
}

// columnsTable is information_schema.columns. go-mysql-server's gathers the columns of all tables when a statement is
// planned, and looks through all of them for each table.
type columnsTable struct {
	gms.Table // go-mysql-server's, for what the table looks like
	door      *Server
	catalog   gms.Catalog
}

var (
	_ gms.CatalogTable    = (*columnsTable)(nil)
	_ gms.Databaseable    = (*columnsTable)(nil)
	_ gms.StatisticsTable = (*columnsTable)(nil)
)

func (t *columnsTable) AssignCatalog(c gms.Catalog) gms.Table {
	t.catalog = c
	return t
}

func (t *columnsTable) Database() string { return gms.InformationSchemaDatabaseName }

func (t *columnsTable) DataLength(ctx *gms.Context) (uint64, error) {
	return t.Table.(gms.StatisticsTable).DataLength(ctx)
}

func (t *columnsTable) RowCount(ctx *gms.Context) (rows uint64, exact bool, err error) {
	return t.Table.(gms.StatisticsTable).RowCount(ctx)
}

func (t *columnsTable) PartitionRows(ctx *gms.Context, _ gms.Partition) (gms.RowIter, error) {
	return t.door.byTable(func(ctx *gms.Context, c gms.Catalog) (gms.RowIter, error) {
		one := information_schema.NewColumnsTable()
		one.AssignCatalog(c)
		all, err := one.AllColumns(ctx)
		if err != nil {
			return nil, err
		}
		return one.RowIter(ctx, c, all)
	}, true)(ctx, t.catalog)
}

// byTable has a reader make its rows for one table of queues at a time, while they are read: those of all tables
// together could be more than the process has memory for, and would be there before any is counted. Columns says
// whether the reader looks at them.
func (d *Server) byTable(read reader, columns bool) reader {
	return func(ctx *gms.Context, c gms.Catalog) (gms.RowIter, error) {
		queues, err := d.store.Queues(ctx)
		if err != nil {
			return nil, fromStore(err, "")
		}
		l := &listing{door: d, read: read, columns: columns, catalog: c, databases: c.AllDatabases(ctx),
			names: map[string][]string{}}
		s := sessionOf(ctx)
		for _, n := range queues {
			if s == nil || d.users.Visible(s.user, n) {
				l.names[n.Namespace] = append(l.names[n.Namespace], n.Name)
			}
		}
		return l, nil
	}
}

// listing are the rows of one table of information_schema.
type listing struct {
	door      *Server
	read      reader
	columns   bool
	catalog   gms.Catalog
	databases []gms.Database      // that are still to be read
	names     map[string][]string // of the queues that are to be seen, by namespace
	database  *database           // that is being read
	tables    []string            // of it, that are still to be read
	rows      gms.RowIter         // of the table, or of a database that has no queues; nil: there is none
	held      int64               // of the meter, for them
}

func (l *listing) Next(ctx *gms.Context) (gms.Row, error) {
	for {
		if l.rows != nil {
			row, err := l.rows.Next(ctx)
			if !errors.Is(err, io.EOF) {
				return row, err
			}
			if err := l.Close(ctx); err != nil {
				return nil, err
			}
		}
		if err := l.next(ctx); err != nil {
			return nil, err
		}
	}
}

// next goes on to the next table, or database; the error is io.EOF when there is none.
func (l *listing) next(ctx *gms.Context) (err error) {
	m := meterOf(ctx)
	if m != nil && m.alive() != nil {
		return m.err
	}
	switch {
	case len(l.tables) > 0:
		name := l.tables[0]
		l.tables = l.tables[1:]
		t, err := l.table(ctx, l.database.queue(name))
		if err != nil {
			return absent(err)
		}
		if l.held = weight(&t.def); m != nil && m.hold(l.held) != nil {
			return m.err
		}
		l.rows, err = l.read(ctx, &only{l.catalog, &oneTable{l.database, t}})
		return err
	case len(l.databases) == 0:
		return io.EOF
	}
	db := l.databases[0]
	l.databases = l.databases[1:]
	var ours bool
	if l.database, ours = db.(*database); !ours {
		l.rows, err = l.read(ctx, &only{l.catalog, db})
		return err
	}
	l.tables = l.names[l.door.store.Resolve(queue.Name{Namespace: l.database.name, Name: "x"}).Namespace]
	slices.Sort(l.tables)
	return nil
}

// table is a queue for a reader. It is not remembered: all of them would drive out those that are asked for.
func (l *listing) table(ctx *gms.Context, n queue.Name) (*table, error) {
	n, def, version, err := l.door.find(ctx, n)
	if err != nil {
		return nil, err
	}
	t := &table{door: l.door, db: l.database.name, name: n, def: def, version: version, columns: def.Columns}
	if len(t.columns) == 0 {
		t.columns = plainColumns
	}
	if l.columns {
		t.schema, err = sqlSchema(ctx, t.db, n.Name, t.columns)
	}
	return t, err
}

func (l *listing) Close(ctx *gms.Context) error {
	if m := meterOf(ctx); m != nil {
		m.held -= l.held
	}
	l.held = 0
	if l.rows == nil {
		return nil
	}
	rows := l.rows
	l.rows = nil
	return rows.Close(ctx)
}

// only is a catalog in which there is one database.
type only struct {
	gms.Catalog
	database gms.Database
}

func (o *only) AllDatabases(*gms.Context) []gms.Database { return []gms.Database{o.database} }

// oneTable is a database in which there is one table.
type oneTable struct {
	*database
	table *table
}

func (o *oneTable) GetTableNames(*gms.Context) ([]string, error) {
	return []string{o.table.Name()}, nil
}

func (o *oneTable) GetTableInsensitive(_ *gms.Context, name string) (gms.Table, bool, error) {
	return o.table, strings.EqualFold(name, o.table.Name()), nil
}

// Of what a table is described by: what one, and a column, takes beside its texts, and how often these are there at
// once while rows or a statement are made of them.
const (
	tableWeight  = 1 << 10
	columnWeight = 512
	textCopies   = 4
)

// weight is about what it takes to describe a table to a client.
func weight(d *queue.Definition) int64 {
	n := int64(tableWeight + columnWeight*len(d.Columns))
	for i := range d.Columns {
		c := &d.Columns[i]
		text := len(c.Name)
		for _, m := range c.Members {
			text += len(m) + 16
		}
		if c.Default != nil {
			text += int(c.Default.Size())
		}
		n += int64(textCopies * text)
	}
	return n + int64(textCopies*len(d.Labels[commentLabel]))
}
