package mysql

import (
	"context"
	"errors"
	"slices"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// provider finds databases: every namespace is one. They appear on demand: a name that nothing is in yet is an empty
// database.
type provider struct{ door *Server }

var (
	_ gms.MutableDatabaseProvider = (*provider)(nil)
	_ gms.FunctionProvider        = (*provider)(nil)
)

func (p *provider) Database(_ *gms.Context, name string) (gms.Database, error) {
	if !p.door.hasDatabase(name) {
		return nil, gms.ErrDatabaseNotFound.New(name)
	}
	return &database{door: p.door, name: name}, nil
}

// HasDatabase: every name is a database, but CREATE and DROP ask for those that are to be seen.
func (p *provider) HasDatabase(ctx *gms.Context, name string) bool {
	switch firstWord(ctx.Query()) {
	case "create", "drop":
		s := sessionOf(ctx)
		all, err := p.door.databases(ctx, s)
		if err != nil {
			s.stick(err)
			return false
		}
		return slices.ContainsFunc(all, func(db string) bool { return strings.EqualFold(db, name) })
	}
	return p.door.hasDatabase(name)
}

// AllDatabases is asked also while a statement is planned, for each table that it reads: for procedures. There are
// none, and to list the databases is to list all queues.
func (p *provider) AllDatabases(ctx *gms.Context) []gms.Database {
	s := sessionOf(ctx)
	if s != nil && (s.meter == nil || !s.meter.running) {
		return nil
	}
	names, err := p.door.databases(ctx, s)
	s.stick(err)
	var all []gms.Database
	for _, name := range names {
		all = append(all, &database{door: p.door, name: name})
	}
	return all
}

// databaseRoom is under which databases are noted that were created and may be empty.
const databaseRoom = "api/mysql/database"

func (p *provider) CreateDatabase(ctx *gms.Context, name string) error {
	if m := meterOf(ctx); m != nil && m.alive() != nil { // HasDatabase could not tell
		return m.err
	}
	n := queue.Name{Namespace: name, Name: "x"}
	if !p.door.hasDatabase(name) && n.Check() == nil {
		return sqlError(1044, "42000", "Access denied for user '%s' to database '%s': the server keeps that name for "+
			"itself", sessionOf(ctx).Client().User, name)
	}
	if err := n.Check(); err != nil {
		return sqlError(1102, "42000", "Incorrect database name '%s': %v", name, err)
	}
	if err := sessionOf(ctx).may(access.Admin, queue.Name{Namespace: name, Name: "*"}, "CREATE"); err != nil {
		return err
	}
	return fromStore(p.door.store.SetNotes(ctx, queue.Note{Room: databaseRoom, Key: name, Value: []byte{1}}), name)
}

// DropDatabase drops every table in it.
func (p *provider) DropDatabase(ctx *gms.Context, name string) error {
	db := &database{door: p.door, name: name}
	names, err := db.GetTableNames(ctx)
	if err != nil {
		return err
	}
	for _, t := range names {
		if err := db.DropTable(ctx, t); err != nil {
			return err
		}
	}
	return fromStore(p.door.store.SetNotes(ctx, queue.Note{Room: databaseRoom, Key: name}), name)
}

// Function gives the queue functions; go-mysql-server's own are found elsewhere.
func (p *provider) Function(_ *gms.Context, _, name string) (gms.Function, bool) {
	f, ok := p.door.functions[strings.ToLower(name)]
	return f, ok
}

// reserved are databases that go-mysql-server has, or that a client would take for the server's own.
var reserved = []string{"information_schema", "mysql", "performance_schema", "sys"}

// hasDatabase tells whether a name can be a database of queues.
func (d *Server) hasDatabase(name string) bool {
	return !slices.Contains(reserved, strings.ToLower(name)) && queue.Name{Namespace: name, Name: "x"}.Check() == nil
}

// databases are those to be listed: namespaces with queues that the user may see, those that were created, and the one
// that clients start in.
func (d *Server) databases(ctx context.Context, s *session) ([]string, error) {
	queues, err := d.store.Queues(ctx)
	if err != nil {
		return nil, fromStore(err, "")
	}
	noted, err := d.store.Notes(ctx, databaseRoom)
	if err != nil {
		return nil, fromStore(err, "")
	}
	names := map[string]bool{}
	for _, n := range queues {
		if s == nil || d.users.Visible(s.user, n) {
			names[n.Namespace] = true
		}
	}
	for _, n := range noted {
		names[n.Key] = true
	}
	if s != nil {
		if current := s.GetCurrentDatabase(); current != "" && d.hasDatabase(current) {
			names[current] = true
		}
	}
	// "test" is where MySQL's users begin; usually it is another name of the default namespace.
	if d.store.Resolve(queue.Name{Namespace: "test", Name: "x"}).Namespace == queue.DefaultNamespace {
		names["test"] = true
		delete(names, queue.DefaultNamespace)
	}
	all := make([]string, 0, len(names))
	for n := range names {
		all = append(all, n)
	}
	slices.Sort(all)
	return all, nil
}

// database is a namespace as SQL sees it.
type database struct {
	door *Server
	name string // as the client calls it: perhaps another name of the namespace
}

var (
	_ gms.TableCreator = (*database)(nil)
	_ gms.TableDropper = (*database)(nil)
	_ gms.TableRenamer = (*database)(nil)
)

func (d *database) Name() string { return d.name }

// GetCollation and SetCollation are of the database as a whole. Texts are compared by bytes whatever is said of it.
func (d *database) GetCollation(*gms.Context) gms.CollationID { return gms.Collation_Default }

func (d *database) SetCollation(ctx *gms.Context, collation gms.CollationID) error {
	if firstWord(ctx.Query()) == "alter" && collation != gms.Collation_Default { // of a CREATE the planner warns
		ctx.Warn(1235, "The collation of database %s stays %s", d.name, gms.Collation_Default)
	}
	return nil
}

func (d *database) queue(table string) queue.Name { return queue.Name{Namespace: d.name, Name: table} }

func (d *database) GetTableInsensitive(ctx *gms.Context, name string) (gms.Table, bool, error) {
	if len(name) > queue.MaxNameBytes {
		return nil, false, sqlError(erTooLongIdent, "42000", "Identifier name '%s' is too long", head(name, maxShown))
	}
	n, def, version, err := d.door.find(ctx, d.queue(name))
	s := sessionOf(ctx)
	if err == nil && s != nil && !d.door.users.Visible(s.user, d.door.store.Resolve(n)) {
		err = queue.ErrNotFound
	}
	if err != nil {
		if s != nil {
			s.absent = d.name + "." + name
		}
		return nil, false, absent(err)
	}
	t, err := d.door.tableWith(ctx, d.name, n, def, version)
	if err != nil {
		return nil, false, err
	}
	if m := meterOf(ctx); m != nil {
		err = m.list(weight(&t.def))
	}
	return t, true, err
}

// nameWeight is about what a statement that shows tables keeps of each, beside what GetTableInsensitive counts.
const nameWeight = 192

func (d *database) GetTableNames(ctx *gms.Context) ([]string, error) {
	all, err := d.door.store.Queues(ctx)
	if err != nil {
		return nil, fromStore(err, "")
	}
	var names []string
	mine := d.door.store.Resolve(queue.Name{Namespace: d.name, Name: "x"}).Namespace
	s := sessionOf(ctx)
	for _, n := range all {
		if n.Namespace == mine && (s == nil || d.door.users.Visible(s.user, n)) {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	if m := meterOf(ctx); m != nil {
		return names, m.list(nameWeight * int64(len(names)))
	}
	return names, nil
}

func (d *database) CreateTable(ctx *gms.Context, name string, schema gms.PrimaryKeySchema, collation gms.CollationID,
	comment string) error {
	n := queue.Name{Namespace: d.name, Name: name}
	if err := sessionOf(ctx).may(access.Admin, n, "CREATE"); err != nil {
		return err
	}
	if len(schema.PkOrdinals) > 0 {
		return noIndexes(name)
	}
	columns := make(message.Columns, len(schema.Schema))
	for i, c := range schema.Schema {
		mc, err := column(ctx, c)
		if err != nil {
			return fromStore(err, name)
		}
		columns[i] = mc
	}
	def := queue.Definition{Columns: columns, Labels: map[string]string{}}
	if comment != "" {
		def.Labels[commentLabel] = comment
	}
	if collation != gms.Collation_Default && collation != gms.Collation_Unspecified {
		def.Labels[collationLabel] = collation.Name()
	}
	if there, err := d.door.has(ctx, n); err != nil {
		return err
	} else if there {
		return d.exists(ctx, name)
	}
	// of a table of that name whose end was cut short
	if err := d.door.forgetMarks(ctx, d.door.store.Resolve(n)); err != nil {
		return fromStore(err, name)
	}
	created, err := d.door.store.CreateQueue(ctx, n, def)
	if errors.Is(err, queue.ErrExists) || err == nil && !created {
		return d.exists(ctx, name)
	}
	return fromStore(err, name)
}

// exists is the error of a table that there is, which CREATE TABLE IF NOT EXISTS makes a note.
func (d *database) exists(ctx *gms.Context, name string) error {
	if words := firstWords(ctx.Query()); len(words) > 3 && words[0] == "create" && words[2] == "if" {
		sessionOf(ctx).note(1050, "Table '"+name+"' already exists")
	}
	return gms.ErrTableAlreadyExists.New(name)
}

func (d *database) DropTable(ctx *gms.Context, name string) error {
	n, err := d.door.lookup(ctx, d.queue(name))
	if err != nil {
		return err
	}
	if err := sessionOf(ctx).may(access.Admin, n, "DROP"); err != nil {
		return err
	}
	d.door.naming.Lock()
	defer d.door.naming.Unlock()
	if err := d.door.store.DeleteQueue(ctx, n); err != nil {
		return fromStore(err, name)
	}
	return fromStore(d.door.forgetMarks(ctx, d.door.store.Resolve(n)), name)
}

func noIndexes(table string) error {
	return sqlError(erNotAllowedEngine, "42000",
		"The storage engine QUEUE has no keys and no declared indexes: leave them out of '%s' (it makes its own for "+
			"the conditions that queue_wait() names; queue_rowid() numbers the rows)", table)
}
