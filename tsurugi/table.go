package tsurugi

import (
	"context"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
)

// A Table is what the server tells of a table.
type Table struct {
	Database, Schema, Name string
	Columns                []Column
	PrimaryKey             []string // names of columns; empty if the table has none
	Description            string
}

// DescribeTable tells the columns of a table. There is none: the error is an *Error with CodeTargetNotFound.
func (s *Session) DescribeTable(ctx context.Context, name string) (*Table, error) {
	a, err := s.ask(ctx, &message.Request{Kind: message.DescribeTable, Table: name})
	if err != nil {
		return nil, err
	}
	if a.Kind != message.DescribeAnswer {
		return nil, unexpected(a)
	}
	return &Table{Database: a.Database, Schema: a.Schema, Name: a.Table, Columns: a.Columns, PrimaryKey: a.Key,
		Description: a.Describe}, nil
}

// Tables lists the names of tables, those of a schema with the schema's name and a dot before.
func (s *Session) Tables(ctx context.Context) ([]string, error) {
	a, err := s.ask(ctx, &message.Request{Kind: message.ListTables})
	if err != nil {
		return nil, err
	}
	if a.Kind != message.ListAnswer {
		return nil, unexpected(a)
	}
	names := make([]string, len(a.Names))
	for i, parts := range a.Names {
		names[i] = strings.Join(parts, ".")
	}
	return names, nil
}

// A Plan is how the server would run a statement.
type Plan struct {
	Format   string // what Contents is
	Version  uint64 // of the format
	Contents string // usually JSON
	Columns  []Column
}

// Explain tells how the server would run a statement in SQL.
func (s *Session) Explain(ctx context.Context, sql string) (*Plan, error) {
	return s.explain(ctx, &message.Request{Kind: message.ExplainText, SQL: sql})
}

// Explain tells how the server would run the statement with these values.
func (st *Statement) Explain(ctx context.Context, values ...Value) (*Plan, error) {
	params, channels, _, err := st.params(values)
	if err != nil {
		return nil, err
	}
	return st.s.explain(ctx, &message.Request{Kind: message.Explain, Stmt: st.handle, Params: params,
		Channels: channels})
}

func (s *Session) explain(ctx context.Context, r *message.Request) (*Plan, error) {
	a, err := s.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	if a.Kind != message.ExplainAnswer {
		return nil, unexpected(a)
	}
	return &Plan{Format: a.Format, Version: a.Version, Contents: a.Contents, Columns: a.Columns}, nil
}

// ObjectFile tells which file of the server's machine holds a large object that came with a result set of this
// transaction. The file is the server's: read it before the transaction ends, and change nothing.
func (tx *Tx) ObjectFile(ctx context.Context, v Value) (string, error) {
	ref, ok := v.Reference()
	if !ok {
		return "", fmt.Errorf("%w: a %v is no large object of the server's", ErrParams, v.Type())
	}
	c, err := tx.s.send(ctx, &message.Request{Kind: message.LargeObject, Tx: tx.bytes, Reference: ref}, nil)
	if err != nil {
		return "", convert(err)
	}
	wired, err := c.Wait(ctx)
	if err != nil {
		return "", convert(err)
	}
	a, err := result(wired)
	if err != nil {
		return "", err
	}
	for _, b := range wired.Blobs {
		if a.Kind == message.LargeObjectAnswer && b.Channel == a.Name {
			return b.Path, nil
		}
	}
	return "", unexpected(a)
}
