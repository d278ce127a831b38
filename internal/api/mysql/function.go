package mysql

import (
	"fmt"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// functions are Q4M's and those of locks, by name.
var functions = map[string]struct {
	typ  gms.Type
	eval func(ctx *gms.Context, s *session, args []argument) (any, error)
}{
	"queue_wait": {types.Int64, func(ctx *gms.Context, s *session, args []argument) (any, error) {
		return orNull(s.queueWait(ctx, args))
	}},
	"queue_end": {types.Int64, func(ctx *gms.Context, s *session, args []argument) (any, error) {
		if err := count("queue_end", args, 0); err != nil {
			return nil, err
		}
		return s.queueEnd(ctx)
	}},
	"queue_abort": {types.Int64, func(ctx *gms.Context, s *session, args []argument) (any, error) {
		if err := count("queue_abort", args, 0); err != nil {
			return nil, err
		}
		return s.queueAbort(ctx)
	}},
	"queue_rowid": {types.Int64, func(_ *gms.Context, s *session, args []argument) (any, error) {
		if err := count("queue_rowid", args, 0); err != nil {
			return nil, err
		}
		return orNull(s.queueRowID())
	}},
	"queue_set_srcid": {types.Int64, func(_ *gms.Context, s *session, args []argument) (any, error) {
		if err := count("queue_set_srcid", args, 3); err != nil {
			return nil, err
		}
		return orNull(1, s.setSource(args[0], args[1], args[2]), nil)
	}},
	"queue_compact": {types.Int64, func(ctx *gms.Context, s *session, args []argument) (any, error) {
		if err := count("queue_compact", args, 1); err != nil {
			return nil, err
		}
		return orNull(s.queueCompact(ctx, args[0]))
	}},
	"queue_stats": {types.Text, func(ctx *gms.Context, s *session, args []argument) (any, error) {
		if err := count("queue_stats", args, 1); err != nil {
			return nil, err
		}
		text, ok, err := s.queueStats(ctx, args[0])
		if !ok || err != nil {
			return nil, err
		}
		return text, nil
	}},
	"get_lock": {types.Int64, func(ctx *gms.Context, s *session, args []argument) (any, error) {
		return s.getLock(ctx, args)
	}},
	"release_lock": {types.Int64, func(_ *gms.Context, s *session, args []argument) (any, error) {
		return s.releaseLock(args)
	}},
	"release_all_locks": {types.Uint64, func(_ *gms.Context, s *session, args []argument) (any, error) {
		if err := count("release_all_locks", args, 0); err != nil {
			return nil, err
		}
		return uint64(s.door.locks.releaseAll(s)), nil
	}},
	"is_free_lock": {types.Int64, func(_ *gms.Context, s *session, args []argument) (any, error) {
		return s.isFreeLock(args)
	}},
	"is_used_lock": {types.Uint64, func(_ *gms.Context, s *session, args []argument) (any, error) {
		return s.isUsedLock(args)
	}},
}

func orNull(n int64, ok bool, err error) (any, error) {
	if !ok || err != nil {
		return nil, err
	}
	return n, nil
}

func count(name string, args []argument, want int) error {
	if len(args) == want {
		return nil
	}
	return sqlError(erWrongParamCount, "42000", "Incorrect parameter count in the call to native function '%s': it "+
		"takes %d", name, want)
}

// sqlFunctions are the functions for the catalog.
func sqlFunctions() []gms.Function {
	var fs []gms.Function
	for name := range functions {
		fs = append(fs, gms.FunctionN{Name: name, Fn: func(_ *gms.Context, args ...gms.Expression) (gms.Expression,
			error) {
			return &call{name: name, args: args}, nil
		}})
	}
	fs = append(append(fs, growingFunctions()...), typedFunctions()...)
	fs = append(append(fs, mendedFunctions()...), clockFunctions()...)
	fs = append(append(append(fs, aesFunctions()...), checkedFunctions()...), absentFunctions()...)
	fs = append(fs, markedFunctions()...)
	// Files of this machine are nobody's business who sends statements.
	fs = append(fs, gms.FunctionN{Name: "current_role",
		Fn: func(*gms.Context, ...gms.Expression) (gms.Expression, error) {
			return expression.NewLiteral("NONE", types.LongText), nil // there are no roles
		}})
	return append(fs, gms.FunctionN{Name: "load_file",
		Fn: func(*gms.Context, ...gms.Expression) (gms.Expression, error) {
			return expression.NewLiteral(nil, types.LongBlob), nil
		}})
}

// call is one of the functions in an expression.
type call struct {
	name string
	args []gms.Expression
}

var _ gms.NonDeterministicExpression = (*call)(nil)

func (c *call) Resolved() bool {
	for _, a := range c.args {
		if !a.Resolved() {
			return false
		}
	}
	return true
}

func (c *call) String() string {
	texts := make([]string, len(c.args))
	for i, a := range c.args {
		texts[i] = a.String()
	}
	return c.name + "(" + strings.Join(texts, ", ") + ")"
}

func (c *call) Type(*gms.Context) gms.Type   { return functions[c.name].typ }
func (c *call) IsNullable(*gms.Context) bool { return true }
func (c *call) IsNonDeterministic() bool     { return true }
func (c *call) Children() []gms.Expression   { return c.args }

func (c *call) WithChildren(_ *gms.Context, args ...gms.Expression) (gms.Expression, error) {
	return &call{name: c.name, args: args}, nil
}

func (c *call) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, fmt.Errorf("%s needs a connection of its own", c.name)
	}
	args := make([]argument, len(c.args))
	for i, a := range c.args {
		v, err := a.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if args[i], err = asArgument(ctx, v); err != nil {
			return nil, err
		}
	}
	return functions[c.name].eval(ctx, s, args)
}

// asArgument is a value's text.
func asArgument(ctx *gms.Context, v any) (argument, error) {
	if v == nil {
		return argument{null: true}, nil
	}
	m, err := fromSQL(ctx, v)
	if err != nil {
		return argument{}, err
	}
	switch v.(type) {
	case []byte:
		return argument{text: m.AsString()}, nil
	case bool:
		if m.AsBool() {
			return argument{text: "1"}, nil
		}
		return argument{text: "0"}, nil
	}
	return argument{text: m.Text()}, nil
}
