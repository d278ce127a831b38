package mysql

import (
	"sync"

	gms "github.com/dolthub/go-mysql-server/sql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// shapes remembers what SQL sees of each table's columns: to make it anew for each statement would cost more than the
// statement. It is bounded, and emptied when it is full.
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

// maxShapeColumns bounds what is remembered, by columns and their members: each takes about half a kilobyte.
const maxShapeColumns = 32_768

func (s *shapes) get(ctx *gms.Context, db string, n queue.Name, version uint64, columns message.Columns) (gms.Schema,
	error) {
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
	size := len(schema)
	for i := range columns {
		size += len(columns[i].Members)
	}
	if s.size += size; s.known == nil || s.size > maxShapeColumns {
		s.known, s.size = make(map[shapeOf]gms.Schema), size
	}
	s.known[k] = schema
	return schema, nil
}

// fields describe a table's columns to a client.
func (t *table) fields(ctx *gms.Context) []*querypb.Field {
	fields := fieldsOf(ctx, t.schema, allOf(nil, t.schema))
	for i := range fields {
		switch t.columns[i].Type {
		case message.TypeTime, message.TypeDateTime, message.TypeTimestamp:
			fields[i].Decimals = uint32(t.columns[i].Length)
			clockLength(fields[i])
		}
	}
	return fields
}
