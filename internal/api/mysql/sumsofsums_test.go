package mysql

import "testing"

// TestSumsOfSumsAreExact: a total of totals, of a derived table, a UNION or a WITH, is a DECIMAL with all of its
// digits.
func TestSumsOfSumsAreExact(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE m (a decimal(20,2), b decimal(22,4)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO m VALUES (0.10, 0.2000), (9007199254740993.25, 0.0001)")
	const totals = "SELECT SUM(a) x FROM m GROUP BY b"
	for statement, want := range map[string]string{
		"SELECT SUM(x) FROM (SELECT SUM(a) x FROM m UNION ALL SELECT SUM(b) FROM m) q": "9007199254740993.5501",
		"SELECT SUM(x) FROM (" + totals + ") q":                                        "9007199254740993.35",
		"SELECT AVG(x) FROM (" + totals + ") q":                                        "4503599627370496.675000",
		"SELECT SUM(x) + 1 FROM (" + totals + ") q":                                    "9007199254740994.35",
		"SELECT SUM(x + 1) FROM (" + totals + ") q":                                    "9007199254740995.35",
		"SELECT SUM(y) FROM (SELECT SUM(x) y FROM (" + totals + ") q) r":               "9007199254740993.35",
		"WITH q AS (" + totals + ") SELECT SUM(x) FROM q":                              "9007199254740993.35",
		"SELECT SUM(x) FROM (SELECT 1.5e0 x UNION ALL SELECT 2) q":                     "3.5",
	} {
		one(t, c, want, statement)
	}
}
