package sql

import "github.com/hikyaku/hikyaku/tsurugi/internal/value"

// A Statement is one of *CreateTable, *DropTable, *Insert, *Select, *Update and *Delete.
type Statement interface{ statement() }

// A ColumnDef is a column of CREATE TABLE.
type ColumnDef struct {
	Name      string
	Type      value.Type
	Varying   bool
	Length    int // of text and bytes; 0: any
	Precision int // of decimals
	Scale     int
	NotNull   bool
	Key       bool
	Default   Expr // a literal; nil: none
}

// CreateTable makes a table.
type CreateTable struct {
	Name        string
	Columns     []ColumnDef
	Key         []string
	IfNotExists bool
}

// DropTable ends a table.
type DropTable struct {
	Name     string
	IfExists bool
}

// A Mode says what becomes of a row whose key is there already.
type Mode uint8

// The modes.
const (
	Refuse Mode = iota
	Replace
	Ignore
)

// Insert adds rows.
type Insert struct {
	Table   string
	Mode    Mode
	Columns []string // none: all
	Rows    [][]Expr
}

// An Item is what a SELECT shows.
type Item struct {
	Expr Expr
	Name string
	Star bool
}

// An Order is a key of ORDER BY.
type Order struct {
	Column string
	Desc   bool
}

// Select reads rows.
type Select struct {
	Table string
	Items []Item
	Where Expr
	Order []Order
	Limit int // less than 0: none
}

// A Set is a column's new value.
type Set struct {
	Column string
	Expr   Expr
}

// Update changes rows.
type Update struct {
	Table string
	Sets  []Set
	Where Expr
}

// Delete removes rows.
type Delete struct {
	Table string
	Where Expr
}

func (*CreateTable) statement() {}
func (*DropTable) statement()   {}
func (*Insert) statement()      {}
func (*Select) statement()      {}
func (*Update) statement()      {}
func (*Delete) statement()      {}

// An Expr is one of Literal, Param, Column, *Unary, *Binary and *Aggregate.
type Expr interface{ expr() }

// Literal is a value in the text.
type Literal struct{ Value value.Value }

// Param is a placeholder.
type Param struct{ Name string }

// Column is a column's value.
type Column struct{ Name string }

// Unary is one of -, NOT, IS NULL and IS NOT NULL.
type Unary struct {
	Op string
	X  Expr
}

// Binary is one of OR, AND, the comparisons, +, - and ||.
type Binary struct {
	Op   string
	X, Y Expr
}

// Aggregate is one of COUNT, SUM, MIN and MAX; X is nil in COUNT(*).
type Aggregate struct {
	Name string
	X    Expr
}

func (Literal) expr()    {}
func (Param) expr()      {}
func (Column) expr()     {}
func (*Unary) expr()     {}
func (*Binary) expr()    {}
func (*Aggregate) expr() {}
