package mysql

import (
	"encoding/hex"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// uuids are the functions of UUIDs. go-mysql-server's own take more than MySQL does, and say what is wrong without its
// number.
var uuids = map[string]clockwork{
	"is_uuid": {1, 1, ofTruth, func(ctx *gms.Context, args []any) (any, error) {
		text, err := wordOf(ctx, args[0])
		_, ok := bytesOfUUID(text)
		return ok, err
	}},
	"uuid_to_bin": {1, 2, ofUUIDBytes, uuidToBin},
	"bin_to_uuid": {1, 2, ofUUIDText, binToUUID},
}

var (
	uuidBytesType = types.MustCreateBinary(sqltypes.VarBinary, 16)
	uuidTextType  = types.MustCreateStringWithDefaults(sqltypes.VarChar, 36)
)

func ofUUIDBytes(*gms.Context, []gms.Expression) gms.Type { return uuidBytesType }
func ofUUIDText(*gms.Context, []gms.Expression) gms.Type  { return uuidTextType }

// swapOf are the arguments of a function of UUIDs, of which the second is no longer NULL.
func swapOf(ctx *gms.Context, args []gms.Expression) []gms.Expression {
	if len(args) == 2 {
		zero := expression.NewLiteral(int64(0), types.Int64)
		args = []gms.Expression{args[0], function.NewIfNull(ctx, &seen[counter]{args[1], counter{}}, zero)}
	}
	return args
}

// bytesOfUUID reads a UUID: of hexadecimal digits, with dashes or without, and with braces around dashes.
func bytesOfUUID(text string) ([]byte, bool) {
	if len(text) == 38 && text[0] == '{' && text[37] == '}' {
		text = text[1:37]
	}
	switch {
	case len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-':
		text = text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	case len(text) != 32:
		return nil, false
	}
	read, err := hex.DecodeString(text)
	return read, err == nil
}

// swaps tells whether the parts of the time change places, so that UUIDs sort by it.
func swaps(ctx *gms.Context, args []any) (bool, error) {
	if len(args) < 2 {
		return false, nil
	}
	n, err := counter{}.look(ctx, args[1])
	return n != int64(0), err
}

func uuidToBin(ctx *gms.Context, args []any) (any, error) {
	text, err := wordOf(ctx, args[0])
	if err != nil {
		return nil, err
	}
	read, ok := bytesOfUUID(text)
	if !ok {
		return nil, wrongUUID(text, "uuid_to_bin")
	}
	if swap, err := swaps(ctx, args); !swap || err != nil {
		return read, err
	}
	return append(append(append(append(make([]byte, 0, 16), read[6:8]...), read[4:6]...), read[:4]...), read[8:]...),
		nil
}

func binToUUID(ctx *gms.Context, args []any) (any, error) {
	text, err := wordOf(ctx, args[0])
	if err != nil {
		return nil, err
	}
	if len(text) != 16 {
		return nil, wrongUUID(text, "bin_to_uuid")
	}
	swap, err := swaps(ctx, args)
	if err != nil {
		return nil, err
	}
	if swap {
		text = text[4:8] + text[2:4] + text[:2] + text[8:]
	}
	digits := hex.EncodeToString([]byte(text))
	return strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-"), nil
}

// wrongUUID is the error for what is no UUID. What are no characters in it is written in hexadecimal.
func wrongUUID(text, name string) error {
	return sqlError(1411, "HY000", "Incorrect string value: '%.64s' for function %s",
		strings.ToValidUTF8(text[:min(len(text), 64)], "?"), name)
}
