package mysql

import "testing"

// TestFloatsAreWrittenAsMySQLDoes: with an exponent where they are large or small, and not before.
func TestFloatsAreWrittenAsMySQLDoes(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.dialRaw() // drivers write a DOUBLE in their own way
	c.want("CREATE TABLE floats (d double, f float, n int) ENGINE=QUEUE")
	c.want("INSERT INTO floats VALUES (1e10, 1e-5, 1)")
	for expression, want := range map[string]string{
		"d": "10000000000", "1234567.5e0": "1234567.5", "f": "0.00001",
		"1e14": "100000000000000", "1e15": "1e15", "-1.5e15": "-1.5e15",
		"1e-15": "0.000000000000001", "1e-16": "1e-16", "d * 1e90": "1e100",
		"1.234e20": "1.234e20", "0e0": "0",
		"concat(1e15, ' ', 1e14, ' ', d)": "1e15 100000000000000 10000000000",
		"CAST(1e20 AS CHAR)":              "1e20", "ifnull(1e20, 'x')": "1e20", "group_concat(d * 1e10)": "1e20",
		"repeat('a', 2e0)": "aa",
	} {
		c.want("SELECT "+expression+" FROM floats", want)
	}
	one(t, r.connect(""), 1e20, "SELECT d * 1e10 FROM floats WHERE n = ?", 1)
}
