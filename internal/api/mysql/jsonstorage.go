package mysql

import (
	"math"

	gms "github.com/dolthub/go-mysql-server/sql"
)

// jsonStorageSize is how many bytes MySQL keeps a document in: in its binary form, whose numbers of bytes and elements
// have two bytes, or four where two do not do.
func jsonStorageSize(ctx *gms.Context, args []any) (any, error) {
	v, err := documentOf(ctx, "json_storage_size", args[0])
	if err != nil {
		return nil, err
	}
	n, _ := storedBytes(v)
	return 1 + n, nil
}

// jsonStorageFree is what an UPDATE has left free in a document: nothing is ever changed here.
func jsonStorageFree(ctx *gms.Context, args []any) (any, error) {
	_, err := documentOf(ctx, "json_storage_free", args[0])
	return int64(0), err
}

// storedBytes is how long a value is, and how many of its bytes stand within the element that it is: 0, 2 or 4.
func storedBytes(v any) (bytes, within int64) {
	switch v := v.(type) {
	case nil, bool:
		return 1, 2
	case string:
		return varBytes(int64(len(v))) + int64(len(v)), 0
	case []any:
		return storedList(v, 0, 0), 0
	case map[string]any:
		var all []any
		names := int64(0)
		for name, one := range v {
			all, names = append(all, one), names+int64(len(name))
		}
		return storedList(all, names, int64(len(all))), 0
	}
	n, ok := plainNumber(v)
	switch {
	case !ok || n != math.Trunc(n) || math.Abs(n) > math.MaxUint64:
		return 8, 0
	case math.MinInt16 <= n && n <= math.MaxUint16:
		return 2, 2
	case math.MinInt32 <= n && n <= math.MaxUint32:
		return 4, 4
	}
	return 8, 0
}

// storedList is how long an array is, or an object with so many bytes of so many names.
func storedList(all []any, names, named int64) int64 {
	size := func(number int64) int64 { // of a number of bytes
		total := 2*number + int64(len(all))*(1+number) + named*(number+2) + names
		for _, v := range all {
			if bytes, within := storedBytes(v); within == 0 || within > number {
				total += bytes
			}
		}
		return total
	}
	if small := size(2); small <= math.MaxUint16 && len(all) <= math.MaxUint16 {
		return small
	}
	return size(4)
}

// varBytes is how long a number is of which each byte has seven bits.
func varBytes(n int64) (bytes int64) {
	for bytes = 1; n >= 1<<7; n >>= 7 {
		bytes++
	}
	return bytes
}
