package mysql

import (
	"strings"
	"testing"
)

// TestFloatingPointsAreRoundedToTheEvenNumber where they are half way, however large they are. A DECIMAL is rounded
// away from 0.
func TestFloatingPointsAreRoundedToTheEvenNumber(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE real_ (f double, g float, d decimal(5,2), s text, n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO real_ VALUES (2.5, -0.5, 2.5, '2.5x', 1)")
	answers(t, c, "real_", map[string]string{
		"round(f)": "2", "round(1.5e0)": "2", "round(-2.5e0)": "-2", "round(d)": "3", "round(s)": "2",
		"round(2.5)":         "3",
		"round(f + 0.001e0)": "3", "concat(round(2.45e0, 1))": "2.4", "concat(round(1.005e0, 2))": "1.00",
		"concat(round(12345.5e0, -1))": "12350", "concat(round(1e20, 2))": "100000000000000000000.00",
		"round(1e300, 400) = 1e300": "1",
		"truncate(-2.55e0, 1)":      "-2.5", "truncate(f, 0)": "2", "truncate(12345.5e0, -2)": "12300",
		"truncate(1e300, 2) = 1e300": "1",
		"round(f, n)":                "2.5", "round(f, NULL)": "", "round(f, -400)": "0", "CAST(f AS SIGNED)": "2",
		"CAST(3.5e0 AS SIGNED)": "4",
		"CAST(f AS UNSIGNED)":   "2", "CAST(d AS SIGNED)": "3", "CAST(-2.5e0 AS SIGNED)": "-2", "abs(round(g))": "0",
		"sum(round(f))": "2", "round(sum(f))": "2", "round(NULL)": "",
	})
	one(t, c, strings.Repeat("9", 5)+".00", "SELECT concat(round(99999.001e0, 2))")
}

// TestFormatTakesEveryNumber, also the one that a text begins with.
func TestFormatTakesEveryNumber(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE shown (d decimal(12,3), u bigint unsigned, f double, s text) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO shown VALUES (-12345.675, 18446744073709551615, 1e20, '1234567.891x')")
	answers(t, c, "shown", map[string]string{
		"format(d, 2)": "-12,345.68", "format(u, 0)": "18,446,744,073,709,551,615", "format(s, 1)": "1,234,567.9",
		"format(f, 2)": "100,000,000,000,000,000,000.00", "format('x', 2)": "0.00", "format(123, 0)": "123",
		"format(12345678901234567890, 2)": "12,345,678,901,234,567,890.00", "format(1234.5, -1)": "1,235",
		"format(12345.678, 2, 'de_DE')": "12.345,68", "format(12345.678, 2, 'en_US')": "12,345.68",
		"format(NULL, 2)": "",
		"format(0.5, 0)":  "1", "format(999, 40)": "999.000000000000000000000000000000", "format('1e3', 0)": "1,000",
	})
}
