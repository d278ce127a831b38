package message

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// A Kind is what a request of the SQL service asks for; its number is that of its field in the protocol.
type Kind uint8

// What can be asked for.
const (
	Begin             Kind = 2
	Prepare           Kind = 3
	Statement         Kind = 4
	Query             Kind = 5
	PreparedStatement Kind = 6
	PreparedQuery     Kind = 7
	Commit            Kind = 8
	Rollback          Kind = 9
	DisposeStatement  Kind = 10
	Explain           Kind = 12 // a prepared statement
	DescribeTable     Kind = 15
	Batch             Kind = 16
	ListTables        Kind = 17
	SearchPath        Kind = 18
	ErrorInfo         Kind = 19
	DisposeTx         Kind = 20
	ExplainText       Kind = 21
	LargeObject       Kind = 23
	TxStatus          Kind = 24
)

// An Options says how a transaction begins.
type Options struct {
	Type     uint64
	Priority uint64
	Label    string
	DDL      bool // it changes definitions
	Preserve []string
	Include  []string // read areas
	Exclude  []string
}

// A Placeholder is a name in a prepared statement, with its type.
type Placeholder struct {
	Name string
	Type value.Type
}

// A Request is one for the SQL service. Which fields count is a matter of its kind.
type Request struct {
	Kind         Kind
	Version      wire.Version
	Tx           []byte // a handle as the server gave it
	Stmt         []byte // likewise
	SQL          string
	Table        string
	Placeholders []Placeholder
	Params       Params
	Channels     []string // of Params that are large objects, in their order
	Options      Options
	Until        uint64 // what a commit waits for
	AutoDispose  bool   // the server forgets the transaction once it is committed
	Reference    value.Reference
}

const fieldVersion = 100

// Append appends the request.
func (r *Request) Append(b []byte) []byte {
	b = wire.Nested(b, protowire.Number(r.Kind), r.append)
	b = wire.Uint(b, fieldVersion, r.Version.Major)
	return wire.Uint(b, fieldVersion+1, r.Version.Minor)
}

func (r *Request) append(b []byte) []byte {
	switch r.Kind {
	case Begin:
		return wire.Nested(b, 1, r.Options.append)
	case Prepare:
		b = wire.Text(b, 1, r.SQL)
		for _, p := range r.Placeholders {
			b = wire.Nested(b, 2, func(b []byte) []byte {
				return wire.Uint(wire.Text(b, 2, p.Name), 11, uint64(p.Type))
			})
		}
		return b
	case Statement, Query:
		return wire.Text(wire.Always(b, 1, r.Tx), 2, r.SQL)
	case PreparedStatement, PreparedQuery:
		return r.Params.append(wire.Always(wire.Always(b, 1, r.Tx), 2, r.Stmt), 3, r.Channels)
	case Commit:
		b = wire.Always(b, 1, r.Tx)
		b = wire.Uint(b, 2, r.Until)
		return wire.Bool(b, 3, r.AutoDispose)
	case Explain:
		return r.Params.append(wire.Always(b, 1, r.Stmt), 2, r.Channels)
	case DisposeStatement:
		return wire.Always(b, 1, r.Stmt)
	case Rollback, DisposeTx, ErrorInfo, TxStatus:
		return wire.Always(b, 1, r.Tx)
	case ExplainText:
		return wire.Text(b, 1, r.SQL)
	case DescribeTable:
		return wire.Text(b, 11, r.Table)
	case LargeObject:
		b = wire.Always(b, 1, r.Tx)
		return wire.Nested(b, 2, func(b []byte) []byte {
			b = wire.Uint(wire.Uint(b, 1, r.Reference.Provider), 2, r.Reference.Object)
			return wire.Uint(b, 4, r.Reference.Tag)
		})
	default:
		return b
	}
}

func (o *Options) append(b []byte) []byte {
	b = wire.Uint(b, 1, o.Type)
	b = wire.Uint(b, 2, o.Priority)
	b = wire.Text(b, 3, o.Label)
	b = wire.Bool(b, 4, o.DDL)
	for i, tables := range [][]string{o.Preserve, o.Include, o.Exclude} {
		for _, t := range tables {
			b = wire.Nested(b, protowire.Number(11+i), func(b []byte) []byte { return wire.Text(b, 1, t) })
		}
	}
	return b
}
