package mysql

import (
	"maps"
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// AddColumn adds a column: the rows that are there read its default.
func (t *table) AddColumn(ctx *gms.Context, c *gms.Column, order *gms.ColumnOrder) error {
	added, err := column(ctx, c)
	if err != nil {
		return fromStoreOf(err, t.name)
	}
	columns, from, err := t.present(ctx)
	if err != nil {
		return err
	}
	if _, there := columns.Lookup(c.Name); there {
		return sqlError(1060, "42S21", "Duplicate column name '%s'", c.Name)
	}
	return t.reshape(ctx, append(columns, added), append(from, -1), c.Name, order)
}

// DropColumn takes a column away.
func (t *table) DropColumn(ctx *gms.Context, name string) error {
	columns, from, err := t.present(ctx)
	if err != nil {
		return err
	}
	i, ok := columns.Lookup(name)
	if !ok {
		return gms.ErrTableColumnNotFound.New(t.name.Name, name)
	}
	return t.reshape(ctx, slices.Delete(columns, i, i+1), slices.Delete(from, i, i+1), "", nil)
}

// ModifyColumn changes a column's type, name or place. Values that do not fit the new type refuse it.
func (t *table) ModifyColumn(ctx *gms.Context, name string, c *gms.Column, order *gms.ColumnOrder) error {
	changed, err := column(ctx, c)
	if err != nil {
		return fromStoreOf(err, t.name)
	}
	columns, from, err := t.present(ctx)
	if err != nil {
		return err
	}
	i, ok := columns.Lookup(name)
	if !ok {
		return gms.ErrTableColumnNotFound.New(t.name.Name, name)
	}
	columns[i] = changed
	return t.reshape(ctx, columns, from, c.Name, order)
}

// present are the columns there are now, and where each comes from: itself. An ALTER TABLE of several parts is done one
// by one.
func (t *table) present(ctx *gms.Context) (message.Columns, []int, error) {
	def, version, err := t.door.store.Definition(ctx, t.name)
	if err != nil {
		return nil, nil, fromStoreOf(err, t.name)
	}
	if a := sessionOf(ctx).altering; a.of(t.name) {
		def, version = a.def, a.version
	}
	t.def, t.version = def, version
	return slices.Clone(def.Columns), places(len(def.Columns)), nil
}

// places are where columns come from that stay where they are.
func places(n int) []int {
	from := make([]int, n)
	for i := range from {
		from[i] = i
	}
	return from
}

// reshape alters the queue, with the column called moved put where order says.
func (t *table) reshape(ctx *gms.Context, columns message.Columns, from []int, moved string,
	order *gms.ColumnOrder) error {
	if err := sessionOf(ctx).may(access.Admin, t.name, "ALTER"); err != nil {
		return err
	}
	if t.plain() {
		return sqlError(erNotAllowedEngine, "42000", "'%s' is a queue without columns: what it shows as a table "+
			"cannot be altered (create a table with columns beside it)", t.name.Name)
	}
	if len(columns) == 0 {
		return sqlError(1090, "42000", "You can't delete all columns with ALTER TABLE; use DROP TABLE instead")
	}
	if order != nil && (order.First || order.AfterColumn != "") {
		i, _ := columns.Lookup(moved)
		c, f := columns[i], from[i]
		columns, from = slices.Delete(columns, i, i+1), slices.Delete(from, i, i+1)
		at := 0
		if !order.First {
			after, ok := columns.Lookup(order.AfterColumn)
			if !ok {
				return gms.ErrTableColumnNotFound.New(t.name.Name, order.AfterColumn)
			}
			at = after + 1
		}
		columns, from = slices.Insert(columns, at, c), slices.Insert(from, at, f)
	}
	def := t.def
	def.Columns = columns
	return t.apply(ctx, def, from)
}

// apply makes the queue what an ALTER TABLE says; of one with several parts it is kept until all of them are known.
func (t *table) apply(ctx *gms.Context, def queue.Definition, from []int) error {
	if a := sessionOf(ctx).altering; a != nil {
		a.add(t, def, from)
	} else if err := t.door.store.AlterColumns(ctx, t.name, def, from, t.version); err != nil {
		return fromStoreOf(err, t.name)
	}
	return t.refresh(ctx)
}

// refresh makes t the table that it has become. go-mysql-server would now write the new columns' defaults into all
// rows: it finds none, they have them.
func (t *table) refresh(ctx *gms.Context) error {
	now, err := t.door.table(ctx, t.db, t.name)
	if err != nil {
		return fromStoreOf(err, t.name)
	}
	*t = *now
	t.altered = true
	return nil
}

// relabel changes one of the queue's labels; "" takes it away.
func (t *table) relabel(ctx *gms.Context, label, value string) error {
	if err := sessionOf(ctx).may(access.Admin, t.name, "ALTER"); err != nil {
		return err
	}
	if _, _, err := t.present(ctx); err != nil {
		return err
	}
	def := t.def
	def.Labels = maps.Clone(def.Labels)
	if def.Labels == nil {
		def.Labels = map[string]string{}
	}
	if def.Labels[label] = value; value == "" {
		delete(def.Labels, label)
	}
	return t.apply(ctx, def, places(len(def.Columns)))
}

// ModifyComment is ALTER TABLE … COMMENT.
func (t *table) ModifyComment(ctx *gms.Context, comment string) error {
	return t.relabel(ctx, commentLabel, comment)
}

// ModifyDefaultCollation is ALTER TABLE … COLLATE, for columns that come; ModifyStoredCollation is ALTER TABLE …
// CONVERT TO. Texts are kept in UTF-8 and compared by bytes whatever is said, so there is nothing to convert.
func (t *table) ModifyDefaultCollation(ctx *gms.Context, c gms.CollationID) error {
	if c == gms.Collation_Default || c == gms.Collation_Unspecified {
		return t.relabel(ctx, collationLabel, "")
	}
	return t.relabel(ctx, collationLabel, c.Name())
}

func (t *table) ModifyStoredCollation(ctx *gms.Context, c gms.CollationID) error {
	return t.ModifyDefaultCollation(ctx, c)
}
