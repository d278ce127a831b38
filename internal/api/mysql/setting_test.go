package mysql

import "testing"

// TestASettingMayBeAWordOfTheLanguage, as MySQL takes them without quotes.
func TestASettingMayBeAWordOfTheLanguage(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "SET time_zone = SYSTEM, SESSION binlog_format=ROW, character_set_filesystem = binary")
	one(t, c, "SYSTEM ROW binary", "SELECT concat_ws(' ', @@time_zone, @@binlog_format, @@character_set_filesystem)")
	exec(t, c, "ALTER DATABASE test CHARACTER SET utf8mb4")
	exec(t, c, "ALTER SCHEMA test COLLATE utf8mb4_general_ci")
	if told, err := texts(t.Context(), c, "SHOW WARNINGS"); err != nil || len(told) != 1 {
		t.Errorf("a collation that has no effect warns %q, %v", told, err)
	}
}
