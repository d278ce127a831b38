package mysql

import "testing"

// TestADecimalBelowZeroIsTheComplementAsUnsigned, not its digits without the sign.
func TestADecimalBelowZeroIsTheComplementAsUnsigned(t *testing.T) {
	computes(t, []computedColumn{
		{"CAST(-3.75 AS UNSIGNED)", "", "18446744073709551612"}, {"CAST(3.75 AS UNSIGNED)", "", "4"},
		{"CAST(-d AS UNSIGNED)", "", "18446744073709551615"},
	})
}
