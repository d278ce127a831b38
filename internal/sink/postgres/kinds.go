package postgres

import (
	"github.com/hikyaku/hikyaku/internal/rows"
)

// form is how a value stands in PostgreSQL's binary format. The names are those of the functions that read it.
type form uint8

const (
	formText form = iota // none that we write: the value's text, for the type's own input function
	formBool
	formInt2
	formInt4
	formInt8
	formOID
	formFloat4
	formFloat8
	formNumeric
	formRaw // the text's bytes as they are
	formBytes
	formDate
	formTime
	formTimeTZ
	formTimestamp // and of timestamp with time zone
	formUUID
	formJSONB
)

// code is rows.Column.Code: what a column has beyond what package rows has to know.
type code struct {
	form    form
	typ     uint32 // the type's OID as the table has it, perhaps a domain's: what tells that it has changed
	element uint32 // the OID of the elements of an array of its values: the type that a domain stands on
	array   string // that type's name, for casts, with no bounds of its own: a cast would cut what is too long
}

// knownForms are the kinds and forms by the function that receives a type's binary form, so that types of extensions
// that are stored as others are (citext) are known, too.
var knownForms = map[string]struct {
	form form
	kind rows.Kind
	bits int
}{
	"boolrecv":         {formBool, rows.Bool, 0},
	"int2recv":         {formInt2, rows.Int, 16},
	"int4recv":         {formInt4, rows.Int, 32},
	"int8recv":         {formInt8, rows.Int, 64},
	"oidrecv":          {formOID, rows.Uint, 32},
	"float4recv":       {formFloat4, rows.Float, 32},
	"float8recv":       {formFloat8, rows.Float, 64},
	"numeric_recv":     {formNumeric, rows.Decimal, 0},
	"textrecv":         {formRaw, rows.Text, 0},
	"varcharrecv":      {formRaw, rows.Text, 0},
	"bpcharrecv":       {formRaw, rows.Text, 0},
	"namerecv":         {formRaw, rows.Text, 0},
	"citextrecv":       {formRaw, rows.Text, 0},
	"enum_recv":        {formRaw, rows.Text, 0},
	"json_recv":        {formRaw, rows.JSON, 0},
	"jsonb_recv":       {formJSONB, rows.JSON, 0},
	"bytearecv":        {formBytes, rows.Bytes, 0},
	"date_recv":        {formDate, rows.Date, 0},
	"time_recv":        {formTime, rows.TimeOfDay, 0},
	"timetz_recv":      {formTimeTZ, rows.TimeOfDay, 0},
	"timestamp_recv":   {formTimestamp, rows.Timestamp, 0},
	"timestamptz_recv": {formTimestamp, rows.TimestampTZ, 0},
	"uuid_recv":        {formUUID, rows.UUID, 0},
}

// The type modifiers of texts and numerics count from 4.
const typmodOffset = 4

const (
	nameLength    = 63 // of type name, which cuts longer ones
	secondsDigits = 6  // of a time where its type has no bound of its own
)

// describe fills in what the receiving function and the type modifier tell of a column.
func describe(c *rows.Column, to *code, receive string, typmod int) {
	known, ok := knownForms[receive]
	if !ok {
		c.Kind, c.NoNUL = rows.Text, true
		return
	}
	to.form, c.Kind, c.Bits = known.form, known.kind, known.bits
	c.NoNUL = c.Kind == rows.Text
	switch receive {
	case "numeric_recv":
		if typmod >= typmodOffset {
			c.Precision = (typmod - typmodOffset) >> 16 & 0xffff
			c.Scale = (typmod-typmodOffset)&0x7ff ^ 1024 - 1024 // 11 bits with a sign
		}
	case "varcharrecv", "bpcharrecv":
		if typmod >= typmodOffset {
			c.Length, c.Runes = typmod-typmodOffset, true
		}
	case "namerecv":
		c.Length = nameLength
	case "time_recv", "timetz_recv", "timestamp_recv", "timestamptz_recv":
		c.Scale = secondsDigits
		if typmod >= 0 {
			c.Scale = typmod
		}
	}
}
