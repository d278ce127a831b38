package sqldriver

import (
	"maps"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// described is a connection that knows these tables and asks for no other.
func described() *conn {
	column := func(name string, t tsurugi.Type) tsurugi.Column { return tsurugi.Column{Name: name, Type: t} }
	return &conn{tables: map[string]*tsurugi.Table{
		"t": {Columns: []tsurugi.Column{column("a", tsurugi.Int4Type), column(`b "c`, tsurugi.DateType),
			column("c", tsurugi.TimePointType), column("v", tsurugi.Int4Type), column("same", tsurugi.DecimalType)}},
		"u": {Columns: []tsurugi.Column{column("i", tsurugi.Int8Type), column("v", tsurugi.CharacterType),
			column("same", tsurugi.DecimalType), column("stamp", tsurugi.TimeOfDayType)}},
		"u v":  {Columns: []tsurugi.Column{column("a", tsurugi.OctetType), column("b", tsurugi.Float8Type)}},
		"gone": {},
		"":     {},
	}}
}

func TestPlaceholdersFindTheirColumns(t *testing.T) {
	t.Parallel()
	c := described()
	for sql, want := range map[string]map[string]string{
		"INSERT OR IGNORE INTO t (a, \"b \"\"c\") VALUES (:x, :y), (1, :z)": {
			"x": "a INT", "y": `b "c DATE`, "z": `b "c DATE`},
		"INSERT INTO s.t VALUES (f(:w, 1), :x + 1, -- :n\n:y)":      {"y": "c TIMESTAMP"},
		"INSERT INTO t VALUES ((:x), (SELECT i FROM u WHERE v=:y))": {"y": "v VARCHAR"},
		"UPDATE \"u v\" SET a = :x, b=:y WHERE :z<>\"u v\".a AND d LIKE ':n'": {
			"x": "a VARBINARY", "y": "b DOUBLE", "z": "a VARBINARY"},
		"DELETE FROM t WHERE a BETWEEN :x AND :y AND c NOT BETWEEN 1 AND :z": {
			"x": "a INT", "y": "a INT", "z": "c TIMESTAMP"},
		"SELECT :x FROM t WHERE a = ':y' AND 5 < :z AND (a+1) = :w AND :u = :v AND a * v = :s AND :r = f(a)": {},
		"": {},

		"SELECT * FROM t JOIN u ON t.a = u.i WHERE u.v = :x AND t.v = :y AND U.same IN (:z)": {
			"x": "v VARCHAR", "y": "v INT", "z": "same DECIMAL"},
		"SELECT * FROM t x INNER JOIN u AS y ON x.a = y.i AND y.v = :z WHERE x.v NOT IN (:p, f(:r), :q)": {
			"z": "v VARCHAR", "p": "v INT", "q": "v INT"},
		"SELECT * FROM u AS t, t AS u WHERE t.v = :x AND u.v = :y":            {"x": "v VARCHAR", "y": "v INT"},
		"SELECT * FROM t, u WHERE stamp > :x":                                 {"x": "stamp TIME"},
		"SELECT * FROM t JOIN u USING (v) WHERE v = :x AND same = :y":         {"y": "same DECIMAL"},
		"SELECT * FROM (t LEFT JOIN u ON t.a = u.i), gone g WHERE stamp = :x": {"x": "stamp TIME"},
		"SELECT * FROM t WHERE u.v = :x":                                      {},
		"SELECT * FROM t x WHERE t.v = :x":                                    {},
		"SELECT * FROM t x (v, a) WHERE v = :x":                               {},

		"SELECT * FROM ((t JOIN u ON t.a = u.i) JOIN gone ON gone.i = a) WHERE stamp = :x":             {"x": "stamp TIME"},
		"SELECT * FROM t, (VALUES (1, :y)) z WHERE EXISTS (SELECT * FROM (VALUES (1)) y WHERE v = :u)": {},

		"SELECT * FROM t WHERE a IN (SELECT i FROM u WHERE v = :x AND c = :y) AND v = :z": {
			"x": "v VARCHAR", "y": "c TIMESTAMP", "z": "v INT"},
		"SELECT * FROM t WHERE EXISTS (SELECT * FROM u t WHERE t.v = :x)":                {"x": "v VARCHAR"},
		"SELECT * FROM t o WHERE EXISTS (SELECT * FROM u WHERE o.v = :x)":                {"x": "v INT"},
		"SELECT * FROM t WHERE EXISTS (SELECT * FROM gone WHERE v = :x)":                 {},
		"SELECT * FROM (SELECT i AS w FROM u WHERE v = :x) s, t WHERE s.v = :y AND a=:z": {"x": "v VARCHAR", "z": "a INT"},
		"INSERT INTO t (a, v) SELECT i, 1 FROM u WHERE v = :x AND c = :y":                {"x": "v VARCHAR"},
		"UPDATE t SET v = (SELECT i FROM u WHERE v = :x), c = :y WHERE v = :z": {
			"x": "v VARCHAR", "y": "c TIMESTAMP", "z": "v INT"},
		"SELECT v FROM t WHERE v = :x UNION ALL SELECT v FROM u WHERE v = :y": {"x": "v INT", "y": "v VARCHAR"},
		"SELECT EXTRACT(YEAR FROM d), a IS DISTINCT FROM v, TRIM(LEADING 'x' FROM e) FROM t WHERE v = :x": {
			"x": "v INT"},
	} {
		found := make(map[string]string)
		for name, at := range places(sql) {
			typ, column, ok, err := c.typeOf(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				found[name] = column + " " + typ.String()
			}
		}
		if !maps.Equal(found, want) {
			t.Errorf("%s: %v", sql, found)
		}
	}
}

func FuzzPlaces(f *testing.F) {
	for _, sql := range []string{"INSERT INTO t (a, b) VALUES (:x, :y)", "a IN (:x", "BETWEEN", "INTO t VALUES ((",
		"\"", ":", "a.\"b\".c = :d", "FROM", "SELECT FROM a b, (c JOIN (SELECT FROM", "))(", "INTO t(", "a..b = :x"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		found := places(sql)
		if len(found) > len(sql) {
			t.Errorf("%q: %v", sql, found)
		}
		for _, at := range found {
			if (at.index < 0) != (at.column != "") || at.scope == nil {
				t.Errorf("%q: %+v", sql, found)
			}
		}
	})
}
