package sqldriver

import (
	"maps"
	"slices"
	"testing"
)

func TestPlaceholdersFindTheirColumns(t *testing.T) {
	named := func(column string) place { return place{column, -1} }
	for sql, want := range map[string]struct {
		tables []string
		found  map[string]place
	}{
		"INSERT OR IGNORE INTO t (a, \"b \"\"c\") VALUES (:x, :y), (1, :z)": {[]string{"t"},
			map[string]place{"x": named("a"), "y": named(`b "c`), "z": named(`b "c`)}},
		"INSERT INTO s.t VALUES (f(:w, 1), :x + 1, -- :n\n:y)": {[]string{"t"},
			map[string]place{"y": {index: 2}}},
		"INSERT INTO t (a) SELECT b FROM u WHERE c >= :x": {[]string{"t", "u"},
			map[string]place{"x": named("c")}},
		"UPDATE \"u v\" SET a = :x, b=:y WHERE :z<>\"u v\".c AND d LIKE ':n'": {[]string{"u v"},
			map[string]place{"x": named("a"), "y": named("b"), "z": named("c")}},
		"SELECT * FROM t x JOIN u y ON x.i = y.i WHERE x.a NOT IN (:p, 2, :q)": {[]string{"t", "u"},
			map[string]place{"p": named("a"), "q": named("a")}},
		"DELETE FROM t WHERE a BETWEEN :x AND :y AND b NOT BETWEEN 1 AND :z": {[]string{"t"},
			map[string]place{"x": named("a"), "y": named("a"), "z": named("b")}},
		"SELECT :x FROM t WHERE a = ':y' AND 5 < :z AND (a+1) = :w AND :u = :v": {[]string{"t"}, map[string]place{}},
		"": {nil, map[string]place{}},
	} {
		tables, found := places(sql)
		if !slices.Equal(tables, want.tables) || !maps.Equal(found, want.found) {
			t.Errorf("%s: %v, %+v", sql, tables, found)
		}
	}
}

func FuzzPlaces(f *testing.F) {
	for _, sql := range []string{"INSERT INTO t (a, b) VALUES (:x, :y)", "a IN (:x", "BETWEEN", "INTO t VALUES ((",
		"\"", ":", "a.\"b\".c = :d", "FROM"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		tables, found := places(sql)
		if len(tables)+len(found) > len(sql) {
			t.Errorf("%q: %v, %v", sql, tables, found)
		}
		for _, at := range found {
			if (at.index < 0) != (at.column != "") {
				t.Errorf("%q: %+v", sql, found)
			}
		}
	})
}
