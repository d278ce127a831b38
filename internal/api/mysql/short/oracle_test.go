package short

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// A judge is a testing.T, a testing.F's T or a rapid.T.
type judge interface {
	Helper()
	Fatalf(format string, args ...any)
}

// recognizedRightly parses a query. When it is recognized, the full parser has to make the same of it: the same table,
// columns, function, arguments and literals, to the byte, and nothing besides.
func recognizedRightly(t judge, query string, mode Mode) (Statement, bool) {
	t.Helper()
	s, ok := Parse(query, mode)
	if !ok {
		return s, false
	}
	if err := compare(s, query, mode); err != nil {
		t.Fatalf("%q (%+v) is recognized as %s: %v", query, mode, canonical(s), err)
	}
	return s, true
}

func compare(s Statement, query string, mode Mode) error {
	options := sqlparser.ParserOptions{AnsiQuotes: mode.ANSIQuotes}
	full, err := sqlparser.ParseWithOptions(context.Background(), query, options)
	if err != nil {
		return fmt.Errorf("the full parser refuses it: %w", err)
	}
	// The engine takes blanks and semicolons from the ends of a text that was not prepared.
	bare := strings.TrimRightFunc(strings.TrimSpace(query), func(r rune) bool { return r == ';' || unicode.IsSpace(r) })
	trimmed, err := sqlparser.ParseWithOptions(context.Background(), bare, options)
	if err != nil {
		return fmt.Errorf("the full parser refuses it without its end: %w", err)
	}
	// What was recognized, written in the plainest way, has to be the same statement. That leaves no room for a part
	// that was overlooked.
	plain, err := sqlparser.ParseWithOptions(context.Background(), canonical(s), options)
	if err != nil {
		return fmt.Errorf("it cannot be written again: %w", err)
	}
	for _, tree := range []sqlparser.Statement{full, trimmed} {
		if err := compareTree(s, tree); err != nil {
			return err
		}
	}
	for _, tree := range []sqlparser.Statement{full, trimmed, plain} {
		forgetSpelling(tree)
	}
	if !reflect.DeepEqual(full, plain) || !reflect.DeepEqual(trimmed, plain) {
		return fmt.Errorf("it means %s", sqlparser.String(full))
	}
	return nil
}

// compareTree compares what a caller reads from a statement with the full parser's tree.
func compareTree(s Statement, tree sqlparser.Statement) error {
	switch tree := tree.(type) {
	case *sqlparser.Select:
		if s.Verb == Select {
			return compareSelect(s, tree)
		}
		return compareCall(s, tree)
	case *sqlparser.Insert:
		return compareInsert(s, tree)
	}
	return fmt.Errorf("it is a %T", tree)
}

func compareCall(s Statement, tree *sqlparser.Select) error {
	if len(tree.SelectExprs) != 1 || s.Len() != 0 {
		return fmt.Errorf("it selects %d things, with %d rows", len(tree.SelectExprs), s.Len())
	}
	e, ok := tree.SelectExprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		return fmt.Errorf("it selects a %T", tree.SelectExprs[0])
	}
	call, ok := e.Expr.(*sqlparser.FuncExpr)
	if !ok || !strings.EqualFold(call.Name.String(), s.Verb.String()) {
		return fmt.Errorf("it calls %s", sqlparser.String(e.Expr))
	}
	label := e.InputExpression
	if !e.As.IsEmpty() {
		label = e.As.String()
	}
	if label != s.Label {
		return fmt.Errorf("its column is %q, not %q", label, s.Label)
	}
	exprs := make([]sqlparser.Expr, len(call.Exprs))
	for i, a := range call.Exprs {
		exprs[i] = a.(*sqlparser.AliasedExpr).Expr
	}
	return compareValues(s, s.Args, exprs, 0)
}

func compareSelect(s Statement, tree *sqlparser.Select) error {
	from := tree.From[0].(*sqlparser.AliasedTableExpr).Expr.(sqlparser.TableName)
	if err := compareTable(s, from); err != nil {
		return err
	}
	if s.Columns == nil {
		if star, ok := tree.SelectExprs[0].(*sqlparser.StarExpr); !ok || !star.TableName.IsEmpty() {
			return fmt.Errorf("it selects %s", sqlparser.String(tree.SelectExprs))
		}
		return nil
	}
	var columns []string
	for _, e := range tree.SelectExprs {
		column := e.(*sqlparser.AliasedExpr).Expr.(*sqlparser.ColName)
		if !column.Qualifier.IsEmpty() {
			return fmt.Errorf("it selects %s", sqlparser.String(column))
		}
		columns = append(columns, column.Name.String())
	}
	if !reflect.DeepEqual(columns, s.Columns) {
		return fmt.Errorf("it selects %q", columns)
	}
	return nil
}

func compareInsert(s Statement, tree *sqlparser.Insert) error {
	if tree.Action != sqlparser.InsertStr || s.Verb != Insert {
		return fmt.Errorf("it is %s", tree.Action)
	}
	if err := compareTable(s, tree.Table); err != nil {
		return err
	}
	var columns []string
	for _, c := range tree.Columns {
		columns = append(columns, c.String())
	}
	if !reflect.DeepEqual(columns, s.Columns) {
		return fmt.Errorf("it names %q", columns)
	}
	rows := tree.Rows.(*sqlparser.AliasedValues).Values
	if len(rows) != s.Len() {
		return fmt.Errorf("it has %d rows, not %d", len(rows), s.Len())
	}
	placeholders := 0
	for i, row := range rows {
		if err := compareValues(s, s.Row(i), row, placeholders); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		for _, v := range s.Row(i) {
			if v.Kind == Placeholder {
				placeholders++
			}
		}
	}
	if placeholders != s.Placeholders {
		return fmt.Errorf("it has %d placeholders, not %d", placeholders, s.Placeholders)
	}
	return nil
}

func compareTable(s Statement, name sqlparser.TableName) error {
	if name.DbQualifier.String() != s.Database || name.Name.String() != s.Table || !name.SchemaQualifier.IsEmpty() {
		return fmt.Errorf("its table is %s", sqlparser.String(name))
	}
	return nil
}

// compareValues compares literals. first is how many placeholders stand before them.
func compareValues(s Statement, values []Value, exprs []sqlparser.Expr, first int) error {
	if len(values) != len(exprs) {
		return fmt.Errorf("%d values are %d", len(values), len(exprs))
	}
	for i, v := range values {
		e := exprs[i]
		var sign string
		if minus, ok := e.(*sqlparser.UnaryExpr); ok && minus.Operator == sqlparser.UMinusStr && v.Kind == Decimal {
			sign, e = "-", minus.Expr // of integers the full parser draws it into the number
		}
		if _, ok := e.(*sqlparser.NullVal); ok && v.Kind == Null && v.Text() == "" {
			continue
		}
		literal, ok := e.(*sqlparser.SQLVal)
		if !ok {
			return fmt.Errorf("value %d is %s", i, sqlparser.String(e))
		}
		want, kind, err := literalText(literal)
		if err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		if kind == Placeholder {
			want, first = fmt.Sprintf(":v%d", first+1), first+1
			if string(literal.Val) != want || v.Kind != kind || v.Index() != first-1 || s.Placeholders < first ||
				v.Text() != "" {
				return fmt.Errorf("value %d: placeholder %s is %+v", i, literal.Val, v)
			}
			continue
		}
		if got := v.Text(); v.Kind != kind || got != sign+want {
			return fmt.Errorf("value %d is the %s %q, not the %s %q", i, kind, sign+want, v.Kind, got)
		}
		if got := v.Append([]byte("before")); !bytes.Equal(got, []byte("before"+sign+want)) || len(got)-6 > v.Size() {
			return fmt.Errorf("value %d is appended as %q, with a size of %d", i, got, v.Size())
		}
	}
	return nil
}

// literalText is what the engine makes of a literal.
func literalText(v *sqlparser.SQLVal) (text string, kind Kind, err error) {
	switch v.Type {
	case sqlparser.StrVal:
		return string(v.Val), String, nil
	case sqlparser.IntVal:
		return string(v.Val), Integer, nil
	case sqlparser.FloatVal:
		return string(v.Val), Decimal, nil
	case sqlparser.HexVal:
		b, err := hex.DecodeString(string(v.Val))
		return string(b), Hex, err
	case sqlparser.HexNum:
		digits := string(v.Val[2:])
		if len(digits)%2 == 1 {
			digits = "0" + digits
		}
		b, err := hex.DecodeString(digits)
		return string(b), Hex, err
	case sqlparser.ValArg:
		return "", Placeholder, nil
	}
	return "", Null, fmt.Errorf("literal %q has the type %d", v.Val, v.Type)
}

// forgetSpelling takes from a tree what the plainest way of writing a statement does not keep.
func forgetSpelling(tree sqlparser.Statement) {
	switch tree := tree.(type) {
	case *sqlparser.Select:
		for _, e := range tree.SelectExprs {
			e, ok := e.(*sqlparser.AliasedExpr)
			if !ok {
				continue
			}
			e.InputExpression, e.StartParsePos, e.EndParsePos = "", 0, 0
			e.As = sqlparser.NewColIdent(e.As.String())
			switch x := e.Expr.(type) {
			case *sqlparser.FuncExpr:
				e.As = sqlparser.NewColIdent("") // compareCall looks at it
				x.Name = sqlparser.NewColIdent(strings.ToLower(x.Name.String()))
			case *sqlparser.ColName:
				x.Name = sqlparser.NewColIdent(x.Name.String())
			}
		}
	case *sqlparser.Insert:
		for _, row := range tree.Rows.(*sqlparser.AliasedValues).Values {
			for i, e := range row {
				if v, ok := e.(*sqlparser.SQLVal); ok && (v.Type == sqlparser.HexNum || v.Type == sqlparser.HexVal) {
					text, _, _ := literalText(v)
					row[i] = sqlparser.NewHexVal([]byte(text))
				}
			}
		}
	}
}

// canonical writes a statement in the plainest way: one blank, names in backquotes, strings with no escape that is not
// needed. The label of a call is left out.
func canonical(s Statement) string {
	var b strings.Builder
	name := func(n string) { b.WriteString("`" + n + "`") }
	list := func(values []Value) {
		for i, v := range values {
			if i > 0 {
				b.WriteString(", ")
			}
			switch v.Kind {
			case Null:
				b.WriteString("NULL")
			case Placeholder:
				b.WriteString("?")
			case Hex:
				fmt.Fprintf(&b, "x'%X'", v.Text())
			case String:
				b.WriteString("'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(v.Text()) + "'")
			default:
				b.WriteString(v.Text())
			}
		}
	}
	table := func() {
		if s.Database != "" {
			name(s.Database)
			b.WriteString(".")
		}
		name(s.Table)
	}
	columns := func() {
		for i, c := range s.Columns {
			if i > 0 {
				b.WriteString(", ")
			}
			name(c)
		}
	}
	switch s.Verb {
	case Select:
		b.WriteString("SELECT ")
		if s.Columns == nil {
			b.WriteString("*")
		}
		columns()
		b.WriteString(" FROM ")
		table()
	case Insert:
		b.WriteString("INSERT INTO ")
		table()
		if s.Columns != nil {
			b.WriteString(" (")
			columns()
			b.WriteString(")")
		}
		b.WriteString(" VALUES ")
		for i := range s.Len() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("(")
			list(s.Row(i))
			b.WriteString(")")
		}
	default:
		b.WriteString("SELECT " + s.Verb.String() + "(")
		list(s.Args)
		b.WriteString(")")
	}
	return b.String()
}
