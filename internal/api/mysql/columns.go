package mysql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/message"
)

// plainColumns are the columns under which a queue without columns is a table. Only body, attributes and key can be
// put.
var plainColumns = func() message.Columns {
	cs, err := message.ParseColumns([]string{
		"id char(36)", "body longblob not null", "attributes json", "`key` varchar(1024)", "enqueued_at datetime(6)",
		"attempts int unsigned not null default 0",
	})
	if err != nil {
		panic(err) // a mistake in the lines above
	}
	return cs
}()

// Places in plainColumns.
const (
	plainID = iota
	plainBody
	plainAttributes
	plainKey
	plainEnqueuedAt
	plainAttempts
)

// sqlSchema is what SQL sees of a table's columns.
func sqlSchema(ctx *gms.Context, database, table string, columns message.Columns) (gms.Schema, error) {
	schema := make(gms.Schema, len(columns))
	for i, c := range columns {
		typ, err := sqlType(c)
		if err != nil {
			return nil, err
		}
		col := &gms.Column{Name: c.Name, Source: table, DatabaseSource: database, Type: typ, Nullable: !c.NotNull}
		if c.Default != nil {
			if col.Default, err = sqlDefault(ctx, c, typ); err != nil {
				return nil, fmt.Errorf("column %s: default: %w", c.Name, err)
			}
		}
		if c.Now {
			if col.Default, err = nowDefault(ctx, c, typ); err != nil {
				return nil, fmt.Errorf("column %s: default: %w", c.Name, err)
			}
		}
		schema[i] = col
	}
	return schema, nil
}

// sqlDefault is what stands for a column that is not given. Dates and times are texts in it, as they are written.
func sqlDefault(ctx *gms.Context, c message.Column, typ gms.Type) (*gms.ColumnDefaultValue, error) {
	var literal gms.Expression
	switch c.Type {
	case message.TypeDate, message.TypeDateTime, message.TypeTimestamp, message.TypeTime:
		v, err := toSQL(ctx, *c.Default, typ)
		if err != nil {
			return nil, err
		}
		text, err := typ.SQL(ctx, nil, v)
		if err != nil {
			return nil, err
		}
		shown := text.ToBytes()
		if c.Type == message.TypeTime {
			shown = fraction(shown, c.Length)
		}
		literal = expression.NewLiteral(string(shown), types.LongText)
	case message.TypeEnum, message.TypeSet:
		literal = expression.NewLiteral(c.Default.AsString(), types.LongText)
	default:
		v, err := toSQL(ctx, *c.Default, typ)
		if err != nil {
			return nil, err
		}
		literal = expression.NewLiteral(v, typ)
	}
	return gms.NewColumnDefaultValue(literal, typ, true, false, !c.NotNull)
}

// nowDefault is CURRENT_TIMESTAMP as a column's default.
func nowDefault(ctx *gms.Context, c message.Column, typ gms.Type) (*gms.ColumnDefaultValue, error) {
	var digits []gms.Expression
	if c.Length > 0 {
		digits = append(digits, expression.NewLiteral(int8(c.Length), types.Int8))
	}
	now, err := function.NewNow(ctx, digits...)
	if err != nil {
		return nil, err
	}
	return gms.NewColumnDefaultValue(now, typ, false, false, !c.NotNull)
}

// isNow tells whether a column's expression is the time of the statement. ON UPDATE is passed over: no row is ever
// changed.
func isNow(d *gms.ColumnDefaultValue) bool { return nowText.MatchString(d.String()) }

var nowText = regexp.MustCompile(`(?i)^\(?(?:current_timestamp|now|localtime|localtimestamp)(?:\(\d*\))?\)?$`)

// sqlType is go-mysql-server's type of a column: what it makes of the type's text.
func sqlType(c message.Column) (gms.Type, error) {
	if c.Type == message.TypeTime {
		return types.Time, nil // with six digits: see plainTimes
	}
	if c.Type.IsChoice() {
		return choiceType(c)
	}
	text := "create table t (c " + c.SQLType()
	if c.Charset != "" {
		text += " character set " + c.Charset
	}
	if c.Collation != "" {
		text += " collate " + c.Collation
	}
	parsed, err := sqlparser.Parse(text + ")")
	if err != nil {
		return nil, fmt.Errorf("column %s: type %s: %w", c.Name, c.SQLType(), err)
	}
	ddl, ok := parsed.(*sqlparser.DDL)
	if !ok || ddl.TableSpec == nil || len(ddl.TableSpec.Columns) != 1 {
		return nil, fmt.Errorf("column %s: type %s is not understood", c.Name, c.SQLType())
	}
	return types.ColumnTypeToType(&ddl.TableSpec.Columns[0].Type)
}

// column is the queue's column for one that SQL declares.
func column(ctx *gms.Context, c *gms.Column) (message.Column, error) {
	if c.AutoIncrement {
		return message.Column{}, sqlError(erNotAllowedEngine, "42000", "The storage engine QUEUE can't number rows: "+
			"column '%s' is AUTO_INCREMENT (queue_rowid() numbers the rows of each table, from 1)", c.Name)
	}
	if c.Generated != nil || c.OnUpdate != nil && !isNow(c.OnUpdate) {
		return message.Column{}, sqlError(erNotAllowedEngine, "42000", "The storage engine QUEUE has no generated "+
			"columns: '%s' (give the value in the INSERT)", c.Name)
	}
	var b strings.Builder
	typ := c.Type.String()
	if types.IsTimespan(c.Type) {
		typ = fmt.Sprintf("time(%d)", sessionOf(ctx).fractions[strings.ToLower(c.Name)])
	}
	if members := membersOf(c.Type); members != nil {
		typ = strings.ToLower(c.Type.Type().String()) + message.MemberList(members)
	}
	b.WriteString("`" + strings.ReplaceAll(c.Name, "`", "``") + "` " + typ)
	if s, ok := c.Type.(gms.TypeWithCollation); ok && !types.IsBinaryType(c.Type) &&
		!strings.Contains(strings.ToLower(typ), "collate") {
		b.WriteString(" collate " + s.Collation().Name())
	}
	if !c.Nullable {
		b.WriteString(" not null")
	}
	mc, err := message.ParseColumn(b.String())
	if err != nil {
		return message.Column{},
			sqlError(erNotAllowedEngine, "42000", "The storage engine QUEUE can't keep column '%s' of type %s: %v",
				c.Name, c.Type, err)
	}
	if c.Default == nil {
		return mc, nil
	}
	if isNow(c.Default) && (mc.Type == message.TypeDateTime || mc.Type == message.TypeTimestamp) {
		mc.Now = true
		return mc, nil
	}
	if !c.Default.IsLiteral() {
		return message.Column{}, sqlError(erNotAllowedEngine, "42000", "The storage engine QUEUE takes constants as "+
			"defaults only: column '%s' has DEFAULT %s (give the value in the INSERT)", c.Name, c.Default)
	}
	v, err := c.Default.Eval(ctx, nil)
	if err != nil {
		return message.Column{}, err
	}
	if v == nil {
		return mc, nil
	}
	mv, err := fromSQL(ctx, v)
	if err != nil {
		return message.Column{}, err
	}
	if mv, err = mc.Convert(mv); err != nil {
		return message.Column{}, err
	}
	mc.Default = &mv
	return mc, nil
}

// toSQL is a value as go-mysql-server keeps one of that type.
func toSQL(ctx *gms.Context, v message.Value, typ gms.Type) (any, error) {
	var raw any
	switch v.Kind() {
	case message.KindNull:
		return nil, nil
	case message.KindBool:
		raw = v.AsBool()
	case message.KindInt:
		raw = v.AsInt()
	case message.KindUint:
		raw = v.AsUint()
	case message.KindFloat:
		raw = v.AsFloat()
	case message.KindBytes:
		raw = []byte(v.AsString())
	case message.KindTime:
		raw = v.AsTime()
	default:
		raw = v.AsString()
	}
	if typ == types.JSON {
		raw = exactDocument(raw)
	}
	x, _, err := typ.Convert(ctx, raw)
	return x, err
}

// fromSQL is the value that go-mysql-server's stands for. The column converts it further.
func fromSQL(ctx *gms.Context, v any) (message.Value, error) {
	switch v := v.(type) {
	case nil:
		return message.Null(), nil
	case bool:
		return message.Bool(v), nil
	case int:
		return message.Int(int64(v)), nil
	case int8:
		return message.Int(int64(v)), nil
	case int16:
		return message.Int(int64(v)), nil
	case int32:
		return message.Int(int64(v)), nil
	case int64:
		return message.Int(v), nil
	case uint:
		return message.Uint(uint64(v)), nil
	case uint8:
		return message.Uint(uint64(v)), nil
	case uint16:
		return message.Uint(uint64(v)), nil
	case uint32:
		return message.Uint(uint64(v)), nil
	case uint64:
		return message.Uint(v), nil
	case float32:
		// The shortest text that names it, as MySQL shows it: not the neighbours of a double.
		f, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		return message.Float(f), err
	case float64:
		return message.Float(v), nil
	case string:
		return message.String(v), nil
	case []byte:
		return message.Bytes(v), nil
	case time.Time:
		return message.Time(v), nil
	case *apd.Decimal:
		return message.Decimal(v.Text('f')), nil
	case types.Timespan:
		return message.String(v.String()), nil
	case gms.AnyWrapper:
		inner, err := v.UnwrapAny(ctx)
		if err != nil {
			return message.Value{}, err
		}
		return fromSQL(ctx, inner)
	case gms.JSONWrapper:
		text, err := types.JsonToMySqlString(ctx, v)
		return message.String(text), err
	case fmt.Stringer:
		return message.String(v.String()), nil
	}
	return message.Value{}, fmt.Errorf("a value of type %T cannot be kept in a queue", v)
}
