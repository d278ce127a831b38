package message

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// An Error is what the SQL service says of a request that failed.
type Error struct {
	Code       uint64
	Detail     string
	Supplement string
}

// An AnswerKind is what an Answer answers; its number is that of its field in the protocol.
type AnswerKind uint8

// The kinds of answers.
const (
	ResultOnly        AnswerKind = 1 // to a query, commit, rollback, disposal of a statement
	BeginAnswer       AnswerKind = 2
	PrepareAnswer     AnswerKind = 3
	QueryHead         AnswerKind = 4 // before a result set
	ExplainAnswer     AnswerKind = 5
	DescribeAnswer    AnswerKind = 6
	ListAnswer        AnswerKind = 8
	PathAnswer        AnswerKind = 9
	ErrorInfoAnswer   AnswerKind = 10
	DisposeAnswer     AnswerKind = 11
	ExecuteAnswer     AnswerKind = 12
	LargeObjectAnswer AnswerKind = 14
	StatusAnswer      AnswerKind = 15
)

// What an Answer counts, as the protocol numbers it.
const (
	Inserted = 10
	Updated  = 20
	Merged   = 30
	Deleted  = 40
)

// A Column is one of a table or a result set.
type Column struct {
	Name        string
	Type        value.Type
	Length      uint64 // of text and bytes
	AnyLength   bool   // of text and bytes: (*)
	Precision   uint64 // of a decimal
	AnyPrec     bool
	Scale       uint64
	HasScale    bool
	AnyScale    bool
	Nullable    bool
	HasNullable bool
	Varying     bool
	HasVarying  bool
	Description string
}

// An Answer is one of the SQL service's. Which fields count is a matter of its kind.
type Answer struct {
	Kind     AnswerKind
	Error    *Error
	Handle   []byte // of a transaction or a prepared statement; when parsed it is a copy
	TxID     string
	Name     string // of a result set, or of a large object's channel
	Columns  []Column
	Inserted int64
	Updated  int64
	Merged   int64
	Deleted  int64
	Format   string // of a plan
	Version  uint64
	Contents string
	Database string
	Schema   string
	Table    string
	Key      []string   // columns of the primary key
	Names    [][]string // of tables, or of search paths
	Describe string
	Status   uint64
	Absent   bool // there is no error to tell of
}

// success is the number of the field that a good answer of a kind is in.
func (k AnswerKind) success() protowire.Number {
	switch k {
	case ResultOnly, BeginAnswer, PrepareAnswer, ErrorInfoAnswer, DisposeAnswer:
		return 1
	default:
		return fieldSuccess
	}
}

// failure is the number of the field with the error.
func (k AnswerKind) failure() protowire.Number {
	switch k {
	case ResultOnly, BeginAnswer, PrepareAnswer, DisposeAnswer, ExplainAnswer:
		return 2
	case ErrorInfoAnswer:
		return 3
	default:
		return fieldError
	}
}

// Append appends the answer.
func (a *Answer) Append(b []byte) []byte {
	return wire.Nested(b, protowire.Number(a.Kind), func(b []byte) []byte {
		switch {
		case a.Error != nil && (a.Kind != ErrorInfoAnswer || a.Absent):
			return wire.Nested(b, a.Kind.failure(), a.Error.append)
		case a.Kind == QueryHead:
			b = wire.Text(b, 1, a.Name)
			return wire.Nested(b, 2, func(b []byte) []byte { return appendColumns(b, 1, a.Columns) })
		case a.Kind == PrepareAnswer:
			return wire.Always(b, 1, a.Handle)
		case a.Kind == ErrorInfoAnswer && a.Error == nil:
			return wire.Always(b, 2, "")
		case a.Kind == ErrorInfoAnswer:
			return wire.Nested(b, 1, a.Error.append)
		default:
			return wire.Nested(b, a.Kind.success(), a.append)
		}
	})
}

func (e *Error) append(b []byte) []byte {
	b = wire.Text(b, 2, e.Detail)
	b = wire.Uint(b, 3, e.Code)
	return wire.Text(b, 4, e.Supplement)
}

func (a *Answer) append(b []byte) []byte {
	switch a.Kind {
	case BeginAnswer:
		b = wire.Always(b, 1, a.Handle)
		return wire.Nested(b, 2, func(b []byte) []byte { return wire.Text(b, 1, a.TxID) })
	case ExplainAnswer:
		b = wire.Text(b, 1, a.Format)
		b = wire.Uint(b, 2, a.Version)
		b = wire.Text(b, 3, a.Contents)
		return appendColumns(b, 4, a.Columns)
	case DescribeAnswer:
		b = wire.Text(b, 1, a.Database)
		b = wire.Text(b, 2, a.Schema)
		b = wire.Text(b, 3, a.Table)
		b = appendColumns(b, 4, a.Columns)
		for _, k := range a.Key {
			b = wire.Always(b, 5, k)
		}
		return wire.Text(b, 20, a.Describe)
	case ListAnswer, PathAnswer:
		for _, name := range a.Names {
			b = wire.Nested(b, 1, func(b []byte) []byte {
				for _, part := range name {
					b = wire.Nested(b, 1, func(b []byte) []byte { return wire.Text(b, 1, part) })
				}
				return b
			})
		}
		return b
	case ExecuteAnswer:
		for i, n := range []int64{a.Inserted, a.Updated, a.Merged, a.Deleted} {
			if n != 0 {
				b = wire.Nested(b, 1, func(b []byte) []byte {
					return wire.Uint(wire.Uint(b, 1, uint64(i+1)*10), 2,
						uint64(n))
				})
			}
		}
		return b
	case LargeObjectAnswer:
		return wire.Text(b, 1, a.Name)
	case StatusAnswer:
		return wire.Uint(b, 1, a.Status)
	default:
		return b
	}
}
