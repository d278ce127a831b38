package mysql

import "testing"

// TestANumberThatAVariableCannotHaveIsBroughtIntoItsRange, with a warning, as MySQL does it; with STRICT_ALL_TABLES it
// is refused.
func TestANumberThatAVariableCannotHaveIsBroughtIntoItsRange(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for _, v := range []struct{ name, set, want, warned string }{
		{"wait_timeout", "-1", "1", "Warning 1292 Truncated incorrect wait_timeout value: '-1'"},
		{"wait_timeout", "31536001", "31536000", "Warning 1292 Truncated incorrect wait_timeout value: '31536001'"},
		{"wait_timeout", "99999999999999999999", "31536000",
			"Warning 1292 Truncated incorrect wait_timeout value: '99999999999999999999'"},
		{"net_write_timeout", "0", "1", "Warning 1292 Truncated incorrect net_write_timeout value: '0'"},
		{"lock_wait_timeout", "0", "1", "Warning 1292 Truncated incorrect lock_wait_timeout value: '0'"},
		{"max_execution_time", "-5", "0", "Warning 1292 Truncated incorrect max_execution_time value: '-5'"},
		{"group_concat_max_len", "0", "4", "Warning 1292 Truncated incorrect group_concat_max_len value: '0'"},
		{"group_concat_max_len", "-1", "4", "Warning 1292 Truncated incorrect group_concat_max_len value: '-1'"},
		{"group_concat_max_len", "18446744073709551615", "18446744073709551615", ""},
		{"auto_increment_increment", "70000", "65535",
			"Warning 1292 Truncated incorrect auto_increment_increment value: '70000'"},
		{"sql_select_limit", "-1", "0", "Warning 1292 Truncated incorrect sql_select_limit value: '-1'"},
		{"sql_select_limit", "18446744073709551616", "18446744073709551615",
			"Warning 1292 Truncated incorrect sql_select_limit value: '18446744073709551616'"},
		{"max_join_size", "18446744073709551615", "9223372036854775807", ""},
		{"wait_timeout", "600", "600", ""},
	} {
		exec(t, c, "SET "+v.name+" = "+v.set)
		told, err := texts(t.Context(), c, "SHOW WARNINGS")
		if err != nil {
			t.Fatal(err)
		}
		exec(t, c, "SET @was = @@"+v.name+", sql_select_limit = DEFAULT")
		one(t, c, v.want, "SELECT @was")
		if got := append(told, "")[0]; got != v.warned {
			t.Errorf("SET %s = %s warns %q, want %q", v.name, v.set, got, v.warned)
		}
	}
	exec(t, c, "SET sql_mode = 'STRICT_ALL_TABLES'")
	_, err := c.ExecContext(t.Context(), "SET wait_timeout = 0")
	failsWith(t, err, 1231, "42000", "a number out of range with STRICT_ALL_TABLES")
	one(t, c, int64(600), "SELECT @@wait_timeout")
	exec(t, c, "SET GLOBAL wait_timeout = 28800") // the one that is refused below leaves it
	_, err = c.ExecContext(t.Context(), "SET GLOBAL wait_timeout = 0")
	failsWith(t, err, 1231, "42000", "likewise of SET GLOBAL")
}
