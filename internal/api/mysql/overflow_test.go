package mysql

import "testing"

// TestCalculationsOutOfRangeAreErrors, and not what is left of them in 64 bits.
func TestCalculationsOutOfRangeAreErrors(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE ranged (n int, u int unsigned, b bigint, bu bigint unsigned, f double) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO ranged VALUES (5, 3, -9223372036854775807, 18446744073709551615, 1e308)")
	for _, expression := range []string{
		"9223372036854775807 + 1", "18446744073709551615 + 1", "b - 2", "b * 2", "bu + 1", "bu * 2", "u - 5", "u * -1",
		"n - u - 3", "f * 10", "-f * 1e10", "f / 1e-10", "pow(10, 400)", "sum(b - 2)",
		"exp(1000)", "exp(n * 200)", "degrees(f)", "cot(0)", "cot(n - 5)", "abs(b - 1)", "-bu", "-(b - 1)",
		"bu DIV 0.1",
	} {
		_, err := c.ExecContext(t.Context(), "SELECT "+expression+" FROM ranged")
		failsWith(t, err, 1690, "22003", expression)
	}
	_, err := c.ExecContext(t.Context(), "SELECT n FROM ranged WHERE u - 5 < 0")
	failsWith(t, err, 1690, "22003", "a condition")
	_, err = c.ExecContext(t.Context(), "SELECT ? + 1", int64(1<<63-1))
	failsWith(t, err, 1690, "22003", "a parameter")
	answers(t, c, "ranged", map[string]string{
		"9223372036854775806 + 1": "9223372036854775807", "bu - 1": "18446744073709551614",
		"b - 1":   "-9223372036854775808",
		"n - 200": "-195", "n - 40000": "-39995", "u + 5 - 8": "0", "CAST(u AS SIGNED) - 5": "-2", "NULL + 1": "",
		"n * u": "15", "-n - 3": "-8", "n - true": "4", "ascii('a') - 200": "-103", "max(u) - 1": "2",
		"bu + 0.5": "18446744073709551615.5", "bu - bu": "0", "length('abc') - 5": "-2", "(n + 1) / 4": "1.5000",
		"n * 2 DIV 3": "3", "n + '1'": "6", "2 * (n + 1) % 5": "2", "round((n + 1) * 2 / 3, 1)": "4.0",
		"exp(709) > 8e307": "1", "radians(f)": "1.7453292519943295e+306", "abs(b)": "9223372036854775807", "-u": "-3",
		"-CAST(200 AS UNSIGNED)": "-200", "exp('0x')": "1", "-(bu - bu)": "0", "cot(1)": "0.6420926159343308",
		"sum(n + 1) * 2": "12", "count(*) - 5": "-4", "unix_timestamp() - u > 1": "1",
	})
	exec(t, c, "SET sql_mode = 'NO_UNSIGNED_SUBTRACTION'")
	one(t, c, int64(-2), "SELECT u - 5 FROM ranged")
}

// TestCeilAndFloorKeepTheNumberThatTheyRound, also one that is longer than 64 bits, and leave the column as it is.
func TestCeilAndFloorKeepTheNumberThatTheyRound(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE rounds (d decimal(10,3), l decimal(30,2), f double, u tinyint unsigned, s text) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO rounds VALUES (-12.345, 99999999999999999999.5, -1.5e300, 200, '1.5x')")
	for _, expression := range []string{"concat(d, ' ', ceil(d), ' ', floor(d), ' ', d)", "concat(d, ' ', d)"} {
		want := map[bool]string{true: "-12.345 -12 -13 -12.345", false: "-12.345 -12.345"}[len(expression) > 20]
		one(t, c, want, "SELECT "+expression+" FROM rounds WHERE floor(d) < ceiling(d)")
	}
	answers(t, c, "rounds", map[string]string{
		"floor(l)": "99999999999999999999", "ceil(l)": "100000000000000000000", "-u": "-200", "floor(u)": "200",
		"floor(f) = f": "1", "ceil(s)": "2", "floor(d) / 2": "-6.5000", "ceiling(-0.5)": "0", "floor(true)": "1",
		"floor(NULL)": "", "floor('2024-02-29')": "2024", "floor(d) DIV 2": "-6",
		"ceil(9223372036854775807.5)": "9223372036854775808", "sum(floor(d))": "-13", "abs(d)": "12.345",
	})
}
