package mysql

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
)

// addresses are the functions of internet addresses that go-mysql-server has otherwise: short ones are none there, and
// of a number what fits into 32 bits is one.
var addresses = map[string]clockwork{
	"inet_aton": {1, 1, ofUnsigned, inetAton},
	"inet_ntoa": {1, 1, ofText, inetNtoa},
}

// inetAton is the number of an address: of one with fewer than four parts the last is the last byte, as with MySQL.
func inetAton(ctx *gms.Context, args []any) (any, error) {
	text, err := wordOf(ctx, args[0])
	if err != nil {
		return nil, err
	}
	parts := strings.Split(text, ".")
	number := uint64(0)
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || len(parts) > 4 || strings.HasPrefix(part, "+") {
			ctx.Warn(1411, "Incorrect string value: '%.64s' for function inet_aton", strings.ToValidUTF8(text, "?"))
			return nil, nil
		}
		number = number<<8 | n
		if last := len(parts) - 1; i == last-1 && len(parts) < 4 {
			number <<= 8 * uint(4-len(parts))
		}
	}
	return number, nil
}

// inetNtoa is the address that a number is; NULL of one that is none.
func inetNtoa(ctx *gms.Context, args []any) (any, error) {
	d, err := integerOf(ctx, args[0])
	if err != nil {
		return nil, err
	}
	n, err := wholeNumberOf(d)
	if err != nil || n < 0 || n > math.MaxUint32 {
		return nil, err
	}
	return fmt.Sprintf("%d.%d.%d.%d", n>>24, n>>16&0xff, n>>8&0xff, n&0xff), nil
}
