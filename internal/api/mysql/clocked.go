package mysql

import (
	"maps"
	"slices"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
)

// works are the functions of clocks, of calendars, of documents, of places in texts, of UUIDs, of addresses and of
// numbers.
var works = []map[string]clockwork{clocks, documents, counters, uuids, addresses, reals, calendar}

// workOf is how the function of a name works.
func workOf(name string) (work clockwork) {
	for _, some := range works {
		if w, ok := some[name]; ok {
			return w
		}
	}
	return work
}

// clocked is one of them in an expression.
type clocked struct {
	name string
	args []gms.Expression
}

var _ gms.FunctionExpression = (*clocked)(nil)

// clockFunctions are those of works for the catalog.
func clockFunctions() (fs []gms.Function) {
	var names []string
	for _, some := range works {
		names = slices.AppendSeq(names, maps.Keys(some))
	}
	for _, name := range names {
		work := workOf(name)
		if growing[name] != nil { // it is among those
			continue
		}
		made := func(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) {
			if len(args) < work.least || len(args) > work.most {
				return nil, sqlError(erWrongParamCount, "42000",
					"Incorrect parameter count in the call to native function '%s'", name)
			}
			if uuids[name].most > 0 {
				args = swapOf(ctx, args)
			}
			return &clocked{name: name, args: typedFor(ctx, name, args)}, nil
		}
		fs = append(fs, gms.FunctionN{Name: name, Fn: made})
	}
	return fs
}

func (c *clocked) FunctionName() string { return c.name }
func (c *clocked) Description() string  { return c.name }

func (c *clocked) Resolved() bool {
	for _, a := range c.args {
		if !a.Resolved() {
			return false
		}
	}
	return true
}

func (c *clocked) String() string {
	texts := make([]string, len(c.args))
	for i, a := range c.args {
		texts[i] = a.String()
	}
	return c.name + "(" + strings.Join(texts, ", ") + ")"
}

// IsNullable is false of what tells the time.
func (c *clocked) IsNullable(*gms.Context) bool {
	return len(c.args) > 0 && c.name != "curtime" && c.name != "current_time" && c.name != "utc_time"
}

func (c *clocked) Type(ctx *gms.Context) gms.Type { return workOf(c.name).typ(ctx, c.args) }
func (c *clocked) Children() []gms.Expression     { return c.args }

func (c *clocked) WithChildren(_ *gms.Context, args ...gms.Expression) (gms.Expression, error) {
	return &clocked{name: c.name, args: args}, nil
}

// Eval is NULL where an argument is.
func (c *clocked) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	args := make([]any, len(c.args))
	for i, a := range c.args {
		v, err := a.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		if args[i], err = gms.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
	}
	return workOf(c.name).eval(ctx, args)
}
