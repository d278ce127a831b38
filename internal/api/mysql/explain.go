package mysql

import (
	"encoding/json"
	"fmt"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// explained is an EXPLAIN of a statement: its old words, ANALYZE, the format and the statement.
var explained = newForm(`(?is)^\s*(?:explain|describe|desc)\s+(?:(?:extended|partitions)\s+)?(analyze\s+)?` +
	`(?:format\s*=\s*['"]?(\w+)['"]?\s+)?((?:select|with|table|values|insert|replace|delete|update|for\s+connection)\b|\()`)

// explain answers EXPLAIN of a statement. Where there are no indexes to be chosen, all that a program can learn is
// which tables are read, in which order, and how many rows they have. done is false for what is no such statement.
func (l *long) explain(sc *gms.Context, s *session) (done bool, err error) {
	m := explained.first(l.query)
	if m == nil {
		return false, nil
	}
	statement := strings.TrimRight(l.query[len(m[0])-len(m[3]):], "; \t\r\n")
	switch {
	case m[1] != "":
		return true, sqlError(erUnsupported, "42000", "EXPLAIN ANALYZE is not supported: EXPLAIN FORMAT=TREE shows "+
			"the plan, without running it")
	case firstWord(statement) == "for":
		return true, sqlError(erUnsupported, "42000", "EXPLAIN FOR CONNECTION is not supported (SHOW PROCESSLIST "+
			"shows what runs)")
	}
	parsed, err := sqlparser.Parse(statement)
	if err != nil {
		return true, err
	}
	var plan gms.Node
	// what is wrong with the statement is said by its plan
	if l.answer != nil && (l.bound == nil || len(l.bound.BindVars) == 0) {
		if plan, err = l.analyze(sc, s, statement); err != nil {
			return true, err
		}
	}
	x := explanation{ctx: sc, session: s}
	switch strings.ToLower(m[2]) {
	case "", "traditional":
		if err := x.statement(parsed); err != nil {
			return true, err
		}
		return true, l.answerTable(explainFields, x.values())
	case "json":
		if err := x.statement(parsed); err != nil {
			return true, err
		}
		return true, l.answerText("EXPLAIN", x.json())
	case "tree":
		if plan == nil && l.answer != nil {
			return true, errNotPrepared()
		}
		return true, l.answerText("EXPLAIN", strings.TrimRight(fmt.Sprint(plan), "\n"))
	}
	return true, sqlError(1791, "HY000", "Unknown EXPLAIN format name: '%.64s' (there are TRADITIONAL, JSON and TREE)",
		m[2])
}

// analyze plans a statement, and runs nothing of it.
func (l *long) analyze(sc *gms.Context, s *session, statement string) (plan gms.Node, err error) {
	defer l.unplanned(s, &err)
	return l.door.engine.AnalyzeQuery(sc, statement)
}

// explainFields are the columns of the table form.
var explainFields = func() (fields []*querypb.Field) {
	for _, name := range []string{
		"id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len", "ref", "rows",
		"filtered", "Extra",
	} {
		f := &querypb.Field{Name: name, Type: sqltypes.VarChar, Charset: utf8mb4, ColumnLength: 1024}
		switch name {
		case "id", "rows":
			f.Type, f.Charset, f.ColumnLength = sqltypes.Uint64, uint32(gms.Collation_binary), 10
		case "filtered":
			f.Type, f.Charset, f.ColumnLength, f.Decimals = sqltypes.Float64, uint32(gms.Collation_binary), 4, 2
		}
		fields = append(fields, f)
	}
	return fields
}()

// values are the rows of the table form.
func (x *explanation) values() [][]sqltypes.Value {
	text := func(s string) sqltypes.Value {
		if s == "" {
			return sqltypes.NULL
		}
		return sqltypes.NewVarChar(s)
	}
	var rows [][]sqltypes.Value
	for _, r := range x.rows {
		id, count, filtered := sqltypes.NULL, sqltypes.NULL, sqltypes.NULL
		if r.id > 0 {
			id = sqltypes.MakeTrusted(sqltypes.Uint64, fmt.Append(nil, r.id))
		}
		if r.count >= 0 {
			count = sqltypes.MakeTrusted(sqltypes.Uint64, fmt.Append(nil, r.count))
			filtered = sqltypes.MakeTrusted(sqltypes.Float64, []byte("100.00"))
		}
		null := sqltypes.NULL
		rows = append(rows, []sqltypes.Value{
			id, text(r.kind), text(r.table), null, text(r.access), null, null, null, null, count, filtered,
			text(r.extra),
		})
	}
	return rows
}

// json is the form FORMAT=JSON, as far as there is something to be said in it.
func (x *explanation) json() string {
	type table struct {
		Name     string `json:"table_name,omitempty"`
		Access   string `json:"access_type,omitempty"`
		Rows     *int64 `json:"rows_examined_per_scan,omitempty"`
		Produced *int64 `json:"rows_produced_per_join,omitempty"`
		Filtered string `json:"filtered,omitempty"`
	}
	type step struct {
		Table table `json:"table"`
	}
	type block struct {
		ID      int    `json:"select_id"`
		Message string `json:"message,omitempty"`
		Table   *table `json:"table,omitempty"`
		Nested  []step `json:"nested_loop,omitempty"`
	}
	type query struct {
		Block block `json:"query_block"`
	}
	var blocks []query
	for _, r := range x.rows {
		if r.id == 0 {
			continue // of a union's result
		}
		t := table{Name: r.table, Access: r.access}
		if r.count >= 0 {
			t.Rows, t.Produced, t.Filtered = &r.count, &r.count, "100.00"
		}
		if r.table == "" {
			blocks = append(blocks, query{block{ID: r.id, Message: r.extra}})
			continue
		}
		n := len(blocks) - 1
		if n < 0 || blocks[n].Block.ID != r.id {
			blocks = append(blocks, query{block{ID: r.id, Table: &t}})
			continue
		}
		if b := &blocks[n].Block; b.Table != nil {
			b.Nested, b.Table = []step{{*b.Table}}, nil
		}
		blocks[n].Block.Nested = append(blocks[n].Block.Nested, step{t})
	}
	var all any = blocks
	if len(blocks) == 1 {
		all = blocks[0]
	} else {
		all = map[string]any{"query_block": map[string]any{"select_id": 1, "query_specifications": blocks}}
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err.Error() // there is nothing in it that JSON lacks
	}
	return string(text)
}
