package mysql

import (
	"errors"
	"fmt"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/api/mysql/charset"
)

// clientText is what a connection's client speaks. go-mysql-server knows a few character sets and panics over the
// others: it is told that everything is UTF-8, as it is behind this.
type clientText struct {
	client  *charset.Set // of statements and parameters; nil: UTF-8, or bytes
	results *charset.Set // of what is answered; nil: as it is kept
	number  uint32       // of the results, as fields tell it
	utf8    bool         // collation_connection is one of UTF-8
	rest    string       // of several statements, which was read before
}

func newText() clientText { return clientText{number: uint32(gms.CharacterSet_utf8mb4), utf8: true} }

// plain tells whether nothing is converted.
func (t *clientText) plain() bool { return t.client == nil && t.results == nil }

// check refuses what a variable that names a character set cannot be set to.
func (t *clientText) check(variable string, value any) error {
	name, ok := value.(string)
	if !ok {
		return nil
	}
	variable = strings.ToLower(variable)
	switch variable {
	case "character_set_client", "character_set_results", "character_set_connection":
	default:
		return nil
	}
	switch lower := strings.ToLower(name); lower {
	case "utf8", "utf8mb3", "utf8mb4", "binary":
		return nil
	case "ucs2", "utf16", "utf16le", "utf32":
		return sqlError(1231, "42000", "Variable '%s' can't be set to the value of '%s'", variable, lower)
	}
	if _, ok := charset.Named(name); !ok {
		return sqlError(1115, "42000", "Unknown character set: %s", head(name, maxShown))
	}
	return nil
}

// set follows a variable that was set.
func (t *clientText) set(variable string, value any) {
	name, _ := value.(string)
	switch strings.ToLower(variable) {
	case "character_set_client":
		t.client, _ = charset.Named(name)
	case "character_set_results":
		t.results, _ = charset.Named(name)
		t.number = uint32(gms.CharacterSet_utf8mb4)
		if id, err := gms.ParseCharacterSet(name); err == nil && id != gms.CharacterSet_Unspecified {
			t.number = uint32(id)
		}
	case "collation_connection", "character_set_connection":
		t.utf8 = strings.HasPrefix(strings.ToLower(name), "utf8")
	}
}

// speak sets what the client said when it came: the number of a collation. An unknown one is the server's own, as with
// MySQL.
func (s *session) speak(ctx *gms.Context, collation uint8) error {
	name := gms.CollationID(collation).CharacterSet().Name()
	switch name {
	// MySQL, too, takes its own in the place of those that clients cannot speak
	case "", "utf8mb4", "utf16", "utf32", "ucs2", "utf16le":
		return nil
	}
	for _, variable := range []string{"character_set_client", "character_set_results", "character_set_connection"} {
		if err := s.SetSessionVariable(ctx, variable, name); err != nil {
			return err
		}
	}
	return nil
}

// GetCharacterSet, GetCharacterSetResults and GetCollation tell go-mysql-server of UTF-8 alone.
func (s *session) GetCharacterSet() gms.CharacterSetID { return gms.CharacterSet_utf8mb4 }

// GetCharacterSetResults is as GetCharacterSet.
func (s *session) GetCharacterSetResults() gms.CharacterSetID { return gms.CharacterSet_utf8mb4 }

// GetCollation is as GetCharacterSet.
func (s *session) GetCollation() gms.CollationID {
	if !s.text.utf8 {
		return gms.Collation_utf8mb4_0900_ai_ci
	}
	return s.BaseSession.GetCollation()
}

// in makes UTF-8 of a statement.
func (t *clientText) in(query string) (string, error) {
	if t.client == nil || query == t.rest {
		return query, nil
	}
	b, err := t.client.Decode([]byte(query))
	if err != nil {
		return "", invalidText(err)
	}
	return string(b), nil
}

func invalidText(err error) error {
	var invalid *charset.InvalidError
	if errors.As(err, &invalid) {
		return sqlError(1300, "HY000", "%s", invalid.Error())
	}
	return err
}

// bound makes UTF-8 of a prepared statement's texts. What is sent as a blob stays as it is.
func (t *clientText) bound(p *vmysql.PrepareData) error {
	if t.client == nil {
		return nil
	}
	for i := range p.ParamsType {
		b := p.BindVars[fmt.Sprintf("v%d", i+1)]
		if b == nil || !spokenParameter(p, i) || b.Type == sqltypes.Null {
			continue
		}
		decoded, err := t.client.Decode(b.Value)
		if err != nil {
			return invalidText(err)
		}
		b.Value = decoded
	}
	return nil
}

// spokenParameter tells whether a parameter, from 0, was sent as a text in the client's character set.
func spokenParameter(p *vmysql.PrepareData, i int) bool {
	if i < 0 || i >= len(p.ParamsType) {
		return false
	}
	t := querypb.Type(p.ParamsType[i])
	return t == sqltypes.VarChar || t == sqltypes.Char
}

// out converts what is answered. Fields and rows may be others' as well: they are copied.
func (t *clientText) out(answer vmysql.ResultSpoolFn) vmysql.ResultSpoolFn {
	return func(r *sqltypes.Result, more bool) error {
		if t.results == nil {
			return answer(r, more)
		}
		encoded := *r
		encoded.Fields = t.fields(r.Fields)
		encoded.Rows = make([][]sqltypes.Value, len(r.Rows))
		for i, row := range r.Rows {
			values := make([]sqltypes.Value, len(row))
			for n, v := range row {
				if values[n] = v; !v.IsNull() && spoken(v.Type()) {
					values[n] = sqltypes.MakeTrusted(v.Type(), t.results.Encode(v.Raw()))
				}
			}
			encoded.Rows[i] = values
		}
		return answer(&encoded, more)
	}
}

// fields are the fields with their names in the client's character set, and as wide as texts are in it.
func (t *clientText) fields(fields []*querypb.Field) []*querypb.Field {
	if t.results == nil {
		return fields
	}
	name := func(s string) string { return string(t.results.Encode([]byte(s))) }
	encoded := make([]*querypb.Field, len(fields))
	for i, f := range fields {
		encoded[i] = &querypb.Field{
			Name: name(f.Name), OrgName: name(f.OrgName), Table: name(f.Table), OrgTable: name(f.OrgTable),
			Database: name(f.Database),
			Type:     f.Type, Charset: f.Charset, ColumnLength: f.ColumnLength, Flags: f.Flags, Decimals: f.Decimals,
		}
		if spoken(f.Type) {
			encoded[i].ColumnLength = f.ColumnLength / 4 * uint32(t.results.MaxBytes)
		}
	}
	return encoded
}

// said puts an error into the client's character set.
func (t *clientText) said(err error) error {
	var known *vmysql.SQLError
	if t.results == nil || !errors.As(err, &known) {
		return err
	}
	return vmysql.NewSQLError(known.Num, known.State, "%s", t.results.Encode([]byte(known.Message)))
}
