package mysql

import "testing"

// TestTheGreatestAndTheLeastOfExactNumbersAreExact: identifiers and amounts have more digits than a double.
func TestTheGreatestAndTheLeastOfExactNumbersAreExact(t *testing.T) {
	computes(t, []computedColumn{
		{"GREATEST(d, e)", "decimal(22,5)", "100.12345"}, {"LEAST(d, 1)", "decimal(12,2)", "1.00"},
		{"GREATEST(d, i)", "decimal(14,2)", "7.00"}, {"GREATEST(9007199254740993, 1)", "", "9007199254740993"},
		{"GREATEST(9007199254740993.5, 1)", "", "9007199254740993.5"},
		{"LEAST(u, 18446744073709551615)", "", "10"},
		{"GREATEST(-1, 18446744073709551615)", "", "18446744073709551615"},
		{"LEAST(i, b, -9)", "int64(21,0)", "-9"},
	})
}
