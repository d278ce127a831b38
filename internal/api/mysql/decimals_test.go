package mysql

import "testing"

// computedColumn is an expression over the table of computes, how a column with it is described ("": that does not
// matter), and its value.
type computedColumn struct{ expression, described, value string }

// computes checks columns that are computed, of a statement and of a prepared one.
func computes(t *testing.T, columns []computedColumn) {
	t.Helper()
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE f (d decimal(10,2), e decimal(20,5) NOT NULL, n decimal(65,30), i int, b bigint, "+
		"u bigint unsigned, t tinyint) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO f VALUES (1.25, 100.12345, 1.5, 7, 9, 10, 3)")
	raw := r.dialRaw()
	for _, q := range columns {
		if got := raw.described("SELECT " + q.expression + " FROM f"); got != q.described && q.described != "" {
			t.Errorf("%s is described as %s, want %s", q.expression, got, q.described)
		}
		if got := raw.prepared("SELECT " + q.expression + " FROM f"); got != q.described && q.described != "" {
			t.Errorf("%s is described as %s when it is prepared, want %s", q.expression, got, q.described)
		}
		one(t, c, q.value, "SELECT "+q.expression+" FROM f LIMIT 1")
	}
}

// TestDecimalsThatAreComputedHaveTheDigitsThatMySQLGivesThem: programs make buffers of the length, show so many digits,
// and take a sum without digits behind the point for a whole number.
func TestDecimalsThatAreComputedHaveTheDigitsThatMySQLGivesThem(t *testing.T) {
	computes(t, []computedColumn{
		{"-1.5", "decimal(4,1)!", "-1.5"}, {".5", "decimal(3,1)!", "0.5"}, {"00.5", "decimal(5,1)!", "0.5"},
		{"SUM(d)", "decimal(34,2)", "1.25"}, {"AVG(d)", "decimal(16,6)", "1.250000"},
		{"SUM(i)", "decimal(33,0)", "7"}, {"AVG(i - 7)", "decimal(17,4)", "0.0000"},
		{"SUM(d*2)", "decimal(35,2)", "2.50"}, {"SUM(i+1)", "decimal(34,0)", "8"},
		{"SUM(DISTINCT d)", "decimal(34,2)", "1.25"}, {"SUM(1)", "decimal(24,0)", "1"},
		{"MAX(d)", "decimal(12,2)", "1.25"}, {"AVG(n)", "decimal(67,30)", "1.500000000000000000000000000000"},
		{"-d", "decimal(13,2)", "-1.25"}, {"d*2", "decimal(13,2)", "2.50"}, {"2*d", "decimal(13,2)", "2.50"},
		{"d*2.5", "decimal(14,3)", "3.125"}, {"d/e", "decimal(21,6)", "0.012485"},
		{"d/3", "decimal(16,6)", "0.416667"}, {"e/d", "decimal(28,9)", "80.098760000"},
		{"i/2", "decimal(16,4)", "3.5000"}, {"b/3", "decimal(25,4)", "3.0000"},
		{"u/3", "decimal(26,4)", "3.3333"}, {"u/u", "decimal(25,4)", "1.0000"},
		{"t/3", "decimal(9,4)", "1.0000"}, {"1/3", "decimal(7,4)", "0.3333"},
		{"d/3/3", "decimal(20,10)", "0.1388888887"}, {"d+1", "decimal(13,2)", "2.25"},
		{"d+e", "decimal(23,5)", "101.37345"}, {"d*e", "decimal(32,7)", "125.1543125"},
		{"e*e", "decimal(42,10)!", "10024.7052399025"}, {"d+i", "decimal(15,2)", "8.25"},
		{"d-b", "decimal(24,2)", "-7.75"}, {"n*n", "decimal(67,30)", "2.250000000000000000000000000000"},
		{"i%2.5", "decimal(12,1)", "2.0"}, {"d%3", "decimal(12,2)", "1.25"}, {"1.5+1", "decimal(5,1)!", "2.5"},
		{"ROUND(d, i - 7)", "decimal(12,2)", "1.00"}, {"COALESCE(d, e)", "decimal(22,5)", "1.25000"},
		{"IFNULL(d, 0)", "decimal(12,2)!", "1.25"}, {"IFNULL(SUM(d), 0)", "decimal(34,2)!", "1.25"},
		{"IF(i > 9, d, 1)", "decimal(12,2)", "1.00"}, {"IF(i > 1, d, NULL)", "decimal(12,2)", "1.25"},
		{"CASE WHEN i THEN d ELSE e END", "decimal(22,5)", "1.25000"},
		{"COALESCE(i, d)", "decimal(14,2)", "7.00"}, {"CONCAT(IF(i > 9, d, 1))", "", "1.00"},
		{"CONCAT(IFNULL(d, e))", "", "1.25000"}, {"NULLIF(d, 1)", "decimal(12,2)", "1.25"},
	})
}

// TestNumbersOfDerivedTablesAndLongOnesHaveTheirDigits, and no zeros behind them up to the last that a DECIMAL can
// have.
func TestNumbersOfDerivedTablesAndLongOnesHaveTheirDigits(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	const numbers = " FROM (SELECT 1.5 AS x UNION ALL SELECT 2) z"
	for statement, want := range map[string]string{
		"SELECT SUM(x) / COUNT(*)" + numbers: "1.75000", "SELECT MAX(x) / 3" + numbers: "0.66667",
		"SELECT SUM(x) * 2" + numbers: "7.0", "SELECT SUM(x / 2)" + numbers: "1.75000",
		"WITH q AS (SELECT x * 1.5 AS y" + numbers + ") SELECT MAX(y) / 2 FROM q": "1.500000",
		"SELECT 100000000000000000000":                                            "100000000000000000000",
		"SELECT -18446744073709551616":                                            "-18446744073709551616",
		"SELECT 100000000000000000000 + 1":                                        "100000000000000000001",
		"SELECT 18446744073709551616 / 2":                                         "9223372036854775808.0000",
		"SELECT 100000000000000000000.5":                                          "100000000000000000000.5",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}
