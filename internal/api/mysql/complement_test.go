package mysql

import "testing"

// TestADecimalBelowZeroIsTheComplementAsUnsigned, not its digits without the sign.
func TestADecimalBelowZeroIsTheComplementAsUnsigned(t *testing.T) {
	computes(t, []computedColumn{
		{"CAST(-3.75 AS UNSIGNED)", "", "18446744073709551612"}, {"CAST(3.75 AS UNSIGNED)", "", "4"},
		{"CAST(-d AS UNSIGNED)", "", "18446744073709551615"},
	})
}

// TestACastToSignedKeepsTheBits of a number without a sign, and is the last one, or all bits, of a text beyond.
func TestACastToSignedKeepsTheBits(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE cast_ (u bigint unsigned, s text, n bigint) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO cast_ VALUES (18446744073709551615, '99999999999999999999x', 5)")
	answers(t, c, "cast_", map[string]string{
		"CAST(u AS SIGNED)": "-1", "CAST(18446744073709551615 AS SIGNED)": "-1",
		"CAST(s AS SIGNED)": "-1", "CAST('-99999999999999999999' AS SIGNED)": "-9223372036854775808",
		"CAST('9223372036854775808' AS SIGNED)": "-9223372036854775808", "CAST('12abc' AS SIGNED)": "12",
		"CAST('-9223372036854775808' AS SIGNED)": "-9223372036854775808", "CAST('' AS SIGNED)": "0",
		"CAST(n AS SIGNED)":                     "5",
		"CAST('9223372036854775807' AS SIGNED)": "9223372036854775807", "CAST('1.9' AS SIGNED)": "1",
		"CAST(NULL AS SIGNED)": "",
	})
}
