package message

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

func appendColumns(b []byte, num protowire.Number, columns []Column) []byte {
	for i := range columns {
		b = wire.Nested(b, num, columns[i].append)
	}
	return b
}

func (c *Column) append(b []byte) []byte {
	b = wire.Text(b, 1, c.Name)
	b = wire.Uint(b, 2, uint64(c.Type))
	b = wire.Uint(b, 12, c.Length)
	if c.AnyLength {
		b = wire.Always(b, 13, "")
	}
	b = wire.Uint(b, 14, c.Precision)
	if c.AnyPrec {
		b = wire.Always(b, 15, "")
	}
	if c.HasScale {
		b = always(b, 16, c.Scale)
	}
	if c.AnyScale {
		b = wire.Always(b, 17, "")
	}
	if c.HasNullable {
		b = always(b, 21, truth(c.Nullable))
	}
	if c.HasVarying {
		b = always(b, 22, truth(c.Varying))
	}
	return wire.Text(b, 100, c.Description)
}

// always appends a number, even 0.
func always(b []byte, num protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), n)
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func parseColumn(b []byte) (c Column, err error) {
	err = wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 1:
			c.Name = f.String()
		case 2:
			if f.Int > 99 {
				return fmt.Errorf("%w: a column of type %d", wire.ErrMalformed, f.Int)
			}
			c.Type = value.Type(f.Int)
		case 12:
			c.Length = f.Int
		case 13:
			c.AnyLength = true
		case 14:
			c.Precision = f.Int
		case 15:
			c.AnyPrec = true
		case 16:
			c.Scale, c.HasScale = f.Int, true
		case 17:
			c.AnyScale = true
		case 21:
			c.Nullable, c.HasNullable = f.Int != 0, true
		case 22:
			c.Varying, c.HasVarying = f.Int != 0, true
		case 100:
			c.Description = f.String()
		}
		return nil
	})
	return c, err
}
