package mysql

import (
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/api/mysql/spelling"
)

// fieldsOf describes the columns of an answer to a client, as MySQL does: numbers and times are of the character set
// binary, texts of what the client wants.
func fieldsOf(ctx *gms.Context, schema gms.Schema, columns []computed) []*querypb.Field {
	fields := make([]*querypb.Field, len(schema))
	set := uint32(gms.CharacterSet_utf8mb4)
	if s := sessionOf(ctx); s != nil {
		set = s.text.number
	}
	for i, c := range schema {
		name := spelling.Shown(c.Name)
		f := &querypb.Field{
			Name: name, OrgName: name, Table: c.Source, OrgTable: c.Source, Database: c.DatabaseSource,
			Type: c.Type.Type(), Charset: uint32(gms.Collation_binary),
			ColumnLength: c.Type.MaxTextResponseByteLength(ctx), Flags: columnFlags(c),
		}
		switch {
		case f.Type == sqltypes.TypeJSON && c.Source != "": // as MySQL says of its columns
			f.Flags |= uint32(querypb.MySqlFlag_BLOB_FLAG | querypb.MySqlFlag_BINARY_FLAG)
		case spoken(f.Type):
			f.Charset, f.ColumnLength = set, fourBytes(c.Type, f.ColumnLength)
		case types.IsDecimal(c.Type):
			f.Decimals = uint32(c.Type.(gms.DecimalType).Scale())
		case types.IsDatetimeType(c.Type):
			f.Decimals = uint32(c.Type.(gms.DatetimeType).Precision())
		case f.Type == sqltypes.Float32, f.Type == sqltypes.Float64:
			f.Decimals = notFixed
		case f.Type == sqltypes.Bit:
			f.ColumnLength = uint32(c.Type.(types.BitType).NumberOfBits())
		case f.Type == sqltypes.Int8 && c.Source != "":
			// TINYINT(1), which clients take for a boolean, unlike what a comparison comes to
			if n, ok := c.Type.(interface{ DisplayWidth() int }); ok && n.DisplayWidth() > 0 {
				f.ColumnLength = uint32(n.DisplayWidth())
			}
		}
		columns[i].describe(f, c)
		if spoken(f.Type) {
			inBytes(f, set)
		}
		clockLength(f)
		fields[i] = f
	}
	return fields
}

// allOf is what a statement's plan told of the columns of its answer: of each something.
func allOf(columns []computed, schema gms.Schema) []computed {
	if len(columns) == len(schema) {
		return columns
	}
	return slices.Repeat([]computed{untold}, len(schema))
}

// widened are the columns of an answer with the types of the exact numbers that are computed: whole ones are BIGINT, as
// with MySQL, and a DECIMAL has the digits that its calculation gives it.
func widened(schema gms.Schema, columns []computed) gms.Schema {
	wide := schema
	for i, t := range columns {
		typ := t.wider(schema[i])
		if typ == nil {
			continue
		}
		if &wide[0] == &schema[0] {
			wide = slices.Clone(schema)
		}
		c := *schema[i]
		c.Type = typ
		wide[i] = &c
	}
	return wide
}

// wider is the type of a number that is computed; nil: the column's is right.
func (t computed) wider(c *gms.Column) gms.Type {
	switch {
	case types.IsDecimal(c.Type) && c.Source == "" && t.exact.digits > 0:
		return t.exact.columnType()
	case t.whole == 0 || !types.IsInteger(c.Type) || types.IsYear(c.Type):
		return nil
	case t.unsigned:
		return types.Uint64
	}
	return types.Int64
}

// describe corrects a field by it. A short text that is computed is no LONGTEXT.
func (t computed) describe(f *querypb.Field, c *gms.Column) {
	if t.nullable {
		f.Flags &^= uint32(querypb.MySqlFlag_NOT_NULL_FLAG)
	}
	switch {
	case f.Type == sqltypes.Time:
		f.Decimals = uint32(t.digits)
	case c.Source != "":
		return
	case f.Type == sqltypes.Decimal && t.exact.unsigned && t.exact.digits > 0:
		f.ColumnLength-- // no sign
		f.Flags |= uint32(querypb.MySqlFlag_UNSIGNED_FLAG)
	case sqltypes.IsIntegral(f.Type) && t.whole > 0:
		f.ColumnLength = uint32(t.whole)
	case f.Type == sqltypes.Float64:
		if f.ColumnLength, f.Decimals = 23, uint32(t.decimals); t.decimals < notFixed {
			f.ColumnLength = uint32(2 + t.decimals)
		}
	case f.Type == sqltypes.Text && t.chars >= 0:
		f.Type, f.ColumnLength = sqltypes.VarChar, uint32(4*t.chars)
	case f.Type == sqltypes.Blob && t.chars >= 0:
		f.Type, f.ColumnLength = sqltypes.VarBinary, uint32(t.chars)
	case f.Type == sqltypes.VarChar && f.ColumnLength > 4*longestVarchar: // of a variable
		f.ColumnLength = 4 * 1024
	}
	if f.Type == sqltypes.VarChar || f.Type == sqltypes.VarBinary {
		f.Decimals = notFixed
		f.Flags &^= uint32(querypb.MySqlFlag_BLOB_FLAG)
	}
}

// fourBytes is the length of a text whose letters have four bytes each, whatever the character set of its type.
func fourBytes(t gms.Type, length uint32) uint32 {
	of, ok := t.(gms.TypeWithCollation)
	if !ok || length >= 1<<24 {
		return length
	}
	if bytes := uint32(of.Collation().CharacterSet().MaxLength()); bytes > 0 && bytes < 4 {
		return length / bytes * 4
	}
	return length
}

// inBytes makes the length of a text that of its letters in the client's character set, of one whose
// letters have four bytes.
func inBytes(f *querypb.Field, set uint32) {
	if bytes := uint32(gms.CharacterSetID(set).MaxLength()); bytes > 0 && bytes < 4 && f.ColumnLength < 1<<24 {
		f.ColumnLength = f.ColumnLength / 4 * bytes
	}
}

// clockLength makes a column with a time as long as MySQL does: its digits of a second count, with their point.
func clockLength(f *querypb.Field) {
	switch f.Type {
	case sqltypes.Time:
		f.ColumnLength = uint32(len("-838:59:59"))
	case sqltypes.Datetime, sqltypes.Timestamp:
		f.ColumnLength = uint32(len("2006-01-02 15:04:05"))
	default:
		return
	}
	if f.Decimals > 0 {
		f.ColumnLength += 1 + f.Decimals
	}
}

// notFixed is how many decimals a number has that may have any.
const notFixed = 31

// spoken tells whether values of a type are texts, which are sent in the client's character set.
func spoken(t querypb.Type) bool {
	return sqltypes.IsText(t) || t == sqltypes.Enum || t == sqltypes.Set || t == sqltypes.TypeJSON
}

// The bits of a column's flags, of which some go with the type: the protocol's library forgets those where there are
// any.
func columnFlags(c *gms.Column) uint32 {
	_, own := sqltypes.TypeToMySQL(c.Type.Type())
	flags := querypb.MySqlFlag(own)
	set := func(flag querypb.MySqlFlag, on bool) {
		if on {
			flags |= flag
		}
	}
	set(querypb.MySqlFlag_NOT_NULL_FLAG, !c.Nullable)
	set(querypb.MySqlFlag_AUTO_INCREMENT_FLAG, c.AutoIncrement)
	set(querypb.MySqlFlag_PRI_KEY_FLAG, c.PrimaryKey)
	set(querypb.MySqlFlag_UNSIGNED_FLAG, types.IsUnsigned(c.Type))
	set(querypb.MySqlFlag_BLOB_FLAG, c.Type.Type() == sqltypes.Text || c.Type.Type() == sqltypes.Blob)
	set(querypb.MySqlFlag_BINARY_FLAG, c.Source == "" && types.IsNumber(c.Type) || types.IsTime(c.Type))
	set(querypb.MySqlFlag_ZEROFILL_FLAG, c.Source != "" && types.IsYear(c.Type)) // a computed one is not filled
	set(querypb.MySqlFlag_NO_DEFAULT_VALUE_FLAG, c.Source != "" && !c.Nullable && c.Default == nil && !c.AutoIncrement)
	return uint32(flags)
}
