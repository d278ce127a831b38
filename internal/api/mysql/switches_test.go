package mysql

import (
	"strings"
	"testing"
)

// TestProgramsSetWhatMySQLHas, though nothing depends on it.
func TestProgramsSetWhatMySQLHas(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "SET innodb_lock_wait_timeout = 5, SESSION optimizer_switch = 'mrr=off,Index_Merge=off'")
	exec(t, c, "SET @@optimizer_switch = 'hash_join=off,index_merge=default'")
	one(t, c, int64(5), "SELECT @@innodb_lock_wait_timeout")
	want := strings.NewReplacer("mrr=on", "mrr=off", "hash_join=on", "hash_join=off").Replace(switches)
	one(t, c, int64(1), "SELECT @@optimizer_switch = '"+want+"'")
	exec(t, c, "SET optimizer_switch = 'default,mrr=off'")
	one(t, c, int64(1), "SELECT @@optimizer_switch LIKE '%,mrr=off,%,hash_join=on,%'")
	exec(t, c, "SET optimizer_switch = DEFAULT")
	one(t, c, int64(1), "SELECT @@optimizer_switch = '"+switches+"'")
	exec(t, c, "SET innodb_strict_mode = OFF, SESSION innodb_table_locks = 0, binlog_format = 'statement'")
	for _, unknown := range []string{"SET no_such = 1", "SET SESSION no_such = 1", "SET @@no_such = 1",
		"SET @a = 1, no_such = 1"} {
		_, err := c.ExecContext(t.Context(), unknown)
		failsWith(t, err, 1193, "HY000", unknown)
	}
	for _, wrong := range []string{"no_such=on", "mrr=2", "mrr"} {
		_, err := c.ExecContext(t.Context(), "SET optimizer_switch = '"+wrong+"'")
		failsWith(t, err, 1231, "42000", wrong)
	}
}

// TestWarningsAreCounted by variables and by SHOW, until the next statement.
func TestWarningsAreCounted(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	one(t, c, int64(0), "SELECT @@warning_count")
	exec(t, c, "SELECT hour('x'), hour('y')")
	one(t, c, int64(2), "SELECT @@session.warning_count")
	one(t, c, int64(0), "SELECT @@warning_count + @@error_count")
	exec(t, c, "SELECT hour('x')")
	one(t, c, int64(1), "SHOW COUNT(*) WARNINGS")
	one(t, c, int64(0), "SHOW COUNT(*) ERRORS")
	_, err := c.ExecContext(t.Context(), "SET warning_count = 1")
	failsWith(t, err, 1238, "HY000", "SET warning_count")
}
