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
