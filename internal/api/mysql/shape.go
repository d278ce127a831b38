package mysql

import (
	"sync"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// shapes remembers what SQL sees of each table's columns: to make it anew for each statement would cost more than the statement. It is bounded,
// and emptied when it is full.
type shapes struct {
	mu    sync.Mutex
	known map[shapeOf]gms.Schema
	size  int // columns in all
}

type shapeOf struct {
	db      string
	queue   queue.Name
	version uint64
}

// maxShapeColumns bounds what is remembered, by columns: each takes about half a kilobyte.
const maxShapeColumns = 32_768

func (s *shapes) get(ctx *gms.Context, db string, n queue.Name, version uint64, columns message.Columns) (gms.Schema, error) {
	k := shapeOf{db, n, version}
	s.mu.Lock()
	schema, ok := s.known[k]
	s.mu.Unlock()
	if ok {
		return schema, nil
	}
	schema, err := sqlSchema(ctx, db, n.Name, columns)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.known[k]; there {
		return schema, nil
	}
	if s.size += len(schema); s.known == nil || s.size > maxShapeColumns {
		s.known, s.size = make(map[shapeOf]gms.Schema), len(schema)
	}
	s.known[k] = schema
	return schema, nil
}

// fields describe a table's columns to a client, as go-mysql-server describes them.
func (t *table) fields(ctx *gms.Context) []*querypb.Field {
	results := ctx.GetCharacterSetResults()
	fields := make([]*querypb.Field, len(t.schema))
	for i, c := range t.schema {
		charset := uint32(gms.Collation_Default.CharacterSet())
		if collated, ok := c.Type.(gms.TypeWithCollation); ok {
			charset = uint32(collated.Collation().CharacterSet())
		}
		if types.IsBinaryType(c.Type) {
			charset = uint32(gms.Collation_binary)
		} else if results != gms.CharacterSet_Unspecified {
			charset = uint32(results)
		}
		var flags querypb.MySqlFlag
		if !c.Nullable {
			flags |= querypb.MySqlFlag_NOT_NULL_FLAG
		}
		if types.IsUnsigned(c.Type) {
			flags |= querypb.MySqlFlag_UNSIGNED_FLAG
		}
		fields[i] = &querypb.Field{
			Name: c.Name, OrgName: c.Name, Table: c.Source, OrgTable: c.Source, Database: c.DatabaseSource,
			Type: c.Type.Type(), Charset: charset, ColumnLength: c.Type.MaxTextResponseByteLength(ctx), Flags: uint32(flags),
		}
		if d, ok := c.Type.(gms.DecimalType); ok {
			fields[i].Decimals = uint32(d.Scale())
		}
		switch t.columns[i].Type {
		case message.TypeTime, message.TypeDateTime, message.TypeTimestamp:
			fields[i].Decimals = uint32(t.columns[i].Length)
		}
	}
	return fields
}
