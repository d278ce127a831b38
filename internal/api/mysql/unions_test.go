package mysql

import "testing"

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
