package store

import (
	"errors"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/sql"
)

// A Statement has been analysed.
type Statement struct {
	tree    sql.Statement
	holders map[string]value.Type
	table   *table // that an INSERT was prepared for; nil: none
}

// Query tells whether it has a result set.
func (s *Statement) Query() bool {
	_, ok := s.tree.(*sql.Select)
	return ok
}

// Prepare analyses a statement: its syntax, its tables and columns, and the types of its placeholders.
func (db *DB) Prepare(text string, holders []message.Placeholder) (*Statement, error) {
	tree, err := sql.Parse(text)
	var syntax *sql.SyntaxError
	if errors.As(err, &syntax) {
		return nil, refuse(codeSyntax, "compile failed with error:syntax_error message:%q", syntax.Error())
	}
	if err != nil {
		return nil, refuse(codeSyntax, "%v", err)
	}
	s := &Statement{tree: tree, holders: make(map[string]value.Type, len(holders))}
	for _, h := range holders {
		s.holders[h.Name] = h.Type
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return s, db.analyse(s)
}

func (db *DB) analyse(s *Statement) error {
	switch tree := s.tree.(type) {
	case *sql.Insert:
		return db.analyseInsert(s, tree)
	case *sql.Select:
		exprs := []sql.Expr{tree.Where}
		for _, item := range tree.Items {
			exprs = append(exprs, item.Expr)
		}
		t, err := db.analyseAll(s, tree.Table, exprs)
		if err != nil {
			return err
		}
		for _, o := range tree.Order {
			if _, ok := t.index[o.Column]; !ok {
				return unknownColumn(t, o.Column)
			}
		}
		return nil
	case *sql.Update:
		exprs := []sql.Expr{tree.Where}
		for _, set := range tree.Sets {
			exprs = append(exprs, set.Expr, sql.Column{Name: set.Column})
		}
		_, err := db.analyseAll(s, tree.Table, exprs)
		return err
	case *sql.Delete:
		_, err := db.analyseAll(s, tree.Table, []sql.Expr{tree.Where})
		return err
	default:
		return nil
	}
}

func unknownColumn(t *table, name string) error {
	return refuse(codeSymbol, "symbol_not_found: column %q is not found in table %q", name, t.name)
}

func (db *DB) analyseAll(s *Statement, name string, exprs []sql.Expr) (*table, error) {
	t, err := db.table(name)
	for _, x := range exprs {
		if err == nil {
			err = s.check(t, x)
		}
	}
	return t, err
}

// check tells whether the names in an expression mean something.
func (s *Statement) check(t *table, x sql.Expr) error {
	switch x := x.(type) {
	case sql.Param:
		if _, ok := s.holders[x.Name]; !ok {
			return refuse(codePlaceholder, "placeholder :%s is not declared", x.Name)
		}
	case sql.Column:
		if _, ok := t.index[x.Name]; !ok {
			return unknownColumn(t, x.Name)
		}
	case *sql.Unary:
		return s.check(t, x.X)
	case *sql.Aggregate:
		return s.check(t, x.X)
	case *sql.Binary:
		if err := s.check(t, x.X); err != nil {
			return err
		}
		if err := s.check(t, x.Y); err != nil {
			return err
		}
		return s.comparable(t, x)
	}
	return nil
}

// comparable tells whether the types on both sides of a comparison go together, as far as they are known before it is
// run.
func (s *Statement) comparable(t *table, x *sql.Binary) error {
	switch x.Op {
	case "=", "<>", "<", "<=", ">", ">=":
	default:
		return nil
	}
	a, b := s.typeOf(t, x.X), s.typeOf(t, x.Y)
	if a == value.Unknown || b == value.Unknown || group(a) == group(b) {
		return nil
	}
	return refuse(codeType, "inconsistent_type: %v cannot be compared with %v", a, b)
}

// typeOf is the type of an expression; Unknown: it is seen when it is run.
func (s *Statement) typeOf(t *table, x sql.Expr) value.Type {
	typ := value.Unknown
	switch x := x.(type) {
	case sql.Param:
		typ = s.holders[x.Name]
	case sql.Column:
		typ = t.columns[t.index[x.Name]].Type
	case sql.Literal:
		typ = x.Value.Type()
	}
	if typ == value.Null {
		return value.Unknown
	}
	return typ
}

func (db *DB) analyseInsert(s *Statement, tree *sql.Insert) error {
	t, err := db.table(tree.Table)
	if err != nil && s.table != nil {
		return ErrDissipated
	}
	if err != nil {
		return err
	}
	if s.table == nil {
		s.table = t
	}
	if s.table != t {
		return ErrDissipated
	}
	if len(tree.Rows) > db.maxRows {
		return refuse(codeTooManyRows, "an INSERT of %d rows; at most %d are taken", len(tree.Rows), db.maxRows)
	}
	columns, err := t.targets(tree)
	if err != nil {
		return err
	}
	for _, row := range tree.Rows {
		if len(row) != len(columns) {
			return refuse(codeType, "inconsistent_columns: %d values for %d columns", len(row), len(columns))
		}
		for i, x := range row {
			if _, ok := x.(sql.Column); ok {
				return refuse(codeSymbol,
					"symbol_not_found: there is no row whose column could be a value of an INSERT")
			}
			if err := s.check(t, x); err != nil {
				return err
			}
			if p, ok := x.(sql.Param); ok && !assignable(t.columns[columns[i]].Type, s.holders[p.Name]) {
				return refuse(codeType, "inconsistent_type: placeholder :%s of type %v cannot be assigned to column %q",
					p.Name, s.holders[p.Name], t.columns[columns[i]].Name)
			}
		}
	}
	return nil
}

// targets are the columns that an INSERT gives values to.
func (t *table) targets(tree *sql.Insert) ([]int, error) {
	if tree.Columns == nil {
		all := make([]int, len(t.columns))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	columns := make([]int, len(tree.Columns))
	for i, name := range tree.Columns {
		c, ok := t.index[name]
		if !ok {
			return nil, unknownColumn(t, name)
		}
		columns[i] = c
	}
	return columns, nil
}
