package mysql

import (
	"strings"
	"testing"
)

// TestShowsCallTheirColumnsAsMySQLDoes: programs read them by name.
func TestShowsCallTheirColumnsAsMySQLDoes(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	for statement, want := range map[string]string{
		"SHOW COLLATION":       "Collation Charset Id Default Compiled Sortlen Pad_attribute",
		"SHOW PLUGINS":         "Name Status Type Library License",
		"SHOW PROFILES":        "Query_ID Duration Query",
		"SHOW PROFILE":         "Status Duration",
		"SHOW SLAVE STATUS":    "Replicate_Do_DB",
		"SHOW REPLICA STATUS":  "Replicate_Do_DB",
		"SHOW FUNCTION STATUS": "character_set_client collation_connection Database Collation",
		"SHOW COLLATION WHERE `Default` = 'Yes' AND Charset = 'utf8mb4'": "Collation Charset Id Default",
	} {
		rows, err := c.QueryContext(t.Context(), statement)
		if err != nil {
			t.Errorf("%s: %v", statement, err)
			continue
		}
		names, err := rows.Columns()
		rows.Close()
		all := strings.Join(names, " ")
		if err != nil || !strings.Contains(all, want) || strings.Contains(all, "Slavete") {
			t.Errorf("%s has the columns %s, %v, want %s", statement, all, err, want)
		}
	}
}

// TestAConnectionMayReadFewerRows: mysql --safe-updates begins with this statement. More than the server lets one read
// nobody gets.
func TestAConnectionMayReadFewerRows(t *testing.T) {
	r := newRig(t, Config{MaxJoinSize: 50}, nil)
	r.makeJobs(10)
	c, other := r.connect(""), r.connect("")
	const join = "SELECT count(*) FROM jobs a WHERE v + 0 > 0"
	exec(t, c, "SET SQL_SAFE_UPDATES=1, SQL_SELECT_LIMIT=1000, MAX_JOIN_SIZE=5")
	if number, _ := ask(t, c, join); number != 1104 {
		t.Errorf("error %d", number)
	}
	one(t, other, int64(10), join)
	exec(t, c, "SET max_join_size = DEFAULT")
	one(t, c, int64(10), join)
	exec(t, c, "SET max_join_size = 1000000")
	if number, _ := ask(t, c, "SELECT count(*) FROM jobs a, jobs b WHERE a.v + b.v > 0"); number != 1104 {
		t.Errorf("error %d", number)
	}
}

// TestVariablesThatProgramsAskForAreThere: drivers, and programs with windows.
func TestVariablesThatProgramsAskForAreThere(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	for name, want := range map[string]string{
		"have_ssl": "DISABLED", "have_query_cache": "NO", "have_profiling": "NO", "have_compress": "YES",
		"innodb_read_only": "0", "version_compile_os": systemName(), "version_compile_machine": machineName(),
	} {
		var got string
		if err := c.QueryRowContext(t.Context(), "SELECT @@"+name).Scan(&got); err != nil || got != want {
			t.Errorf("@@%s is %q, %v, want %q", name, got, err, want)
		}
	}
}
