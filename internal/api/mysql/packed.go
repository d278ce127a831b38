package mysql

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// packed is COMPRESS(). go-mysql-server makes a compressor of most of a megabyte for each value, however short it is,
// and sorts by making each value again and again.
type packed struct{ *function.Compress }

func (p packed) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	e, err := p.Compress.WithChildren(ctx, children...)
	if c, ok := e.(*function.Compress); ok && err == nil {
		return packed{c}, nil
	}
	return e, err
}

// Eval is four bytes of length, the lowest first, and what zlib makes of the value; nothing for an empty one.
func (p packed) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	v, err := p.EvalChild(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	if v, _, err = types.LongBlob.Convert(ctx, v); err != nil {
		return nil, err
	}
	text, _ := v.([]byte)
	if len(text) == 0 {
		return []byte{}, nil
	}
	var all bytes.Buffer
	all.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(text))))
	z := packers.take(&all)
	defer packers.give(z)
	if _, err = z.Write(text); err == nil {
		err = z.Close()
	}
	return all.Bytes(), err
}

// packers are compressors to be used again: a few, since each is large.
var packers = make(packerList, 4)

type packerList chan *zlib.Writer

func (l packerList) take(to *bytes.Buffer) *zlib.Writer {
	select {
	case z := <-l:
		z.Reset(to)
		return z
	default:
		z, _ := zlib.NewWriterLevel(to, zlib.BestCompression) // it fails with a level that there is not
		return z
	}
}

func (l packerList) give(z *zlib.Writer) {
	z.Reset(nil) // it is not to keep what it wrote to
	select {
	case l <- z:
	default:
	}
}
