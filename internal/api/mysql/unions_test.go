package mysql

import (
	"strings"
	"testing"
)

// TestAUnionKeepsTheDigitsOfItsNumbers: no side is rounded to what the other has.
func TestAUnionKeepsTheDigitsOfItsNumbers(t *testing.T) {
	computes(t, []computedColumn{
		{"d FROM f UNION SELECT 1", "decimal(12,2)", "1.25"},
		{"1.5 AS x FROM f UNION ALL SELECT d", "decimal(12,2)", "1.50"},
		{"d FROM f UNION ALL SELECT 1.555", "decimal(13,3)", "1.250"},
		{"d FROM f UNION ALL SELECT 1.555 FROM f UNION ALL SELECT i", "decimal(15,3)", "1.250"},
		{"i/2 FROM f UNION ALL SELECT d", "decimal(16,4)", "3.5000"},
		{"SUM(d) FROM f UNION ALL SELECT e", "", "1.25000"},
		{"d FROM f UNION ALL SELECT 2e0", "float64(23,31)", "1.25"},
		{"(SELECT max(x) FROM (SELECT d AS x FROM f UNION ALL SELECT 1) q)", "", "1.25"},
	})
}

// TestAUnionKeepsTheCastsOfItsSelects: a DECIMAL without digits is one of ten, and none of them behind the point.
func TestAUnionKeepsTheCastsOfItsSelects(t *testing.T) {
	const cast, convert = "CAST(d AS DECIMAL) FROM f", "CONVERT(e, DECIMAL) FROM f"
	computes(t, []computedColumn{
		{cast + " UNION ALL SELECT CAST(e AS DECIMAL)", "", "1"},
		{convert + " UNION SELECT CONVERT(d, DECIMAL)", "", "100"},
		{"CAST(d AS DECIMAL) AS d FROM (SELECT d FROM f) q UNION ALL SELECT CAST(e AS DECIMAL) AS e", "", "1"},
		{"CAST(d AS DECIMAL) AS d FROM (SELECT d FROM f GROUP BY d) q UNION ALL SELECT CAST(e AS DECIMAL) AS e", "", "1"},
		{convert + " UNION ALL SELECT CAST(d AS DECIMAL) FROM f UNION ALL SELECT CAST(i AS DECIMAL)", "", "100"},
		{convert + " EXCEPT SELECT CAST(d AS DECIMAL)", "", "100"},
		{convert + " INTERSECT SELECT CAST(100.2 AS DECIMAL)", "", "100"},
		{"CAST(12.7 AS DECIMAL) UNION SELECT CAST(1 AS DECIMAL)", "", "13"},
		{"CONCAT(x, ' ', y) FROM (SELECT CAST(1.4 AS DECIMAL) AS x, CAST(2.5 AS DECIMAL) AS y UNION " +
			"SELECT CAST(1 AS DECIMAL), CAST(3 AS DECIMAL)) q, f UNION ALL SELECT ''", "", "1 3"},
		{"COUNT(*) FROM (SELECT CAST(1.4 AS DECIMAL), CAST(2.5 AS DECIMAL) UNION SELECT CAST(1 AS DECIMAL), " +
			"CAST(3 AS DECIMAL)) q UNION ALL SELECT 7", "", "1"},
		{"(SELECT MAX(x) FROM (SELECT CAST(d AS DECIMAL) AS x FROM f UNION ALL SELECT CAST(e AS DECIMAL) FROM f) q)",
			"", "100"},
		{"(SELECT CAST(e AS DECIMAL) FROM f UNION SELECT CAST(e AS DECIMAL) FROM f)", "", "100"},
		{cast + " UNION ALL SELECT e", "", "1.00000"},
		{"CAST(e AS DECIMAL(8,2)) FROM f UNION ALL SELECT CAST(d AS DECIMAL(9,3))", "", "100.120"},
	})
}

// TestAUnionOfUnlikeNumbersHasMySQLsType: no number is cut to what the other side can be, and none becomes a text.
func TestAUnionOfUnlikeNumbersHasMySQLsType(t *testing.T) {
	computes(t, []computedColumn{
		{"SUM(i) FROM f UNION SELECT SUM(d)", "decimal(36,2)", "7.00"},
		{"SUM(d) FROM f UNION ALL SELECT i", "decimal(34,2)", "1.25"},
		{"COUNT(*) FROM f UNION ALL SELECT SUM(i)", "", "1"},
		{"u FROM f UNION SELECT b", "decimal(21,0)", "10"},
		{"18446744073709551615 UNION SELECT -1", "decimal(21,0)!", "18446744073709551615"},
		{"b FROM f UNION ALL SELECT 18446744073709551615 FROM f UNION ALL SELECT d", "decimal(24,2)", "9.00"},
		{"MAX(u) FROM f UNION ALL SELECT MIN(t)", "", "10"},
		{"(SELECT MAX(x) FROM (SELECT 18446744073709551615 AS x UNION SELECT b FROM f) q)", "",
			"18446744073709551615"},
		{"(SELECT MAX(x) FROM (SELECT NULL AS x UNION SELECT d FROM f) q)", "", "1.25"},
		{"IF(i, d, 1) FROM f UNION ALL SELECT i", "decimal(14,2)", "1.25"},
		{"(SELECT COUNT(DISTINCT x) FROM (SELECT d AS x FROM f UNION ALL SELECT DISTINCT i FROM f) q)", "", "2"},
	})
}

// TestAUnionOfFloatsAndYearsIsOfNumbers: they were texts.
func TestAUnionOfFloatsAndYearsIsOfNumbers(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE n (g float, f double, y year, i int, u int unsigned) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO n VALUES (2.5, 1.25, 2024, 7, 4294967295)")
	raw := r.dialRaw()
	for columns, want := range map[string]string{
		"g FROM n UNION SELECT i FROM n": "float64", "f FROM n UNION SELECT g FROM n": "float64",
		"y FROM n UNION SELECT i FROM n": "int64", "i FROM n UNION SELECT u FROM n": "int64",
	} {
		if got := raw.described("SELECT " + columns); !strings.HasPrefix(got, want) {
			t.Errorf("%s is described as %s, want %s", columns, got, want)
		}
	}
	one(t, c, 2024.5, "SELECT SUM(x) FROM (SELECT y AS x FROM n UNION SELECT g - 2 FROM n) q")
}
