package mysql

import (
	"context"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// bind lets go-mysql-server prepare a statement, which runs nothing of it, and tells of the columns of its answer: as
// the answer will, but for those that only the values decide.
func (h *handler) bind(ctx context.Context, c *vmysql.Conn, query string) (fields []*querypb.Field, err error) {
	defer h.unplanned(known(c), &err)
	sc, err := h.door.sessions.NewContextWithQuery(ctx, c, query)
	if err != nil {
		return nil, err
	}
	if sc, err = sc.ProcessList.BeginOperation(sc); err != nil {
		return nil, err
	}
	defer sc.ProcessList.EndOperation(sc)
	n, err := h.door.engine.PrepareQuery(sc, query)
	if err != nil {
		return nil, gms.UnwrapError(err)
	}
	switch n := n.(type) {
	case *plan.InsertInto:
		if n.Returning == nil {
			return nil, nil
		}
	case *plan.Update, *plan.UpdateJoin, *plan.DeleteFrom:
		return nil, nil
	}
	if types.IsOkResultSchema(n.Schema(sc)) {
		return nil, nil
	}
	if bound, _, err := boundIn(sc, n, false); err == nil { // what is wrong is told when it is executed
		n = bound
	}
	if exact, _, err := exactIn(sc, n); err == nil {
		n = exact
	}
	return h.boundFields(sc, n)
}

// boundFields are the columns of what a plan answers.
func (h *handler) boundFields(ctx *gms.Context, n gms.Node) ([]*querypb.Field, error) {
	schema := append(gms.Schema(nil), n.Schema(ctx)...)
	for i, c := range schema {
		if types.IsDeferredType(c.Type) || c.Type == nil { // a value decides
			text := *c
			text.Type = types.LongText
			schema[i] = &text
		}
	}
	told, err := computedIn(ctx, h.door, n)
	if err != nil {
		return nil, err
	}
	columns := allOf(told, schema)
	fields := fieldsOf(ctx, widened(schema, columns), columns)
	clock := clockDigits{door: h.door}
	for _, f := range fields {
		if f.OrgTable == "" || strings.EqualFold(f.Database, gms.InformationSchemaDatabaseName) {
			continue
		}
		switch f.Type {
		case sqltypes.Time, sqltypes.Datetime, sqltypes.Timestamp:
			f.Decimals = uint32(clock.of(ctx, f))
			clockLength(f)
		}
	}
	return fields, clock.err
}
