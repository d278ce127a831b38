package mysql

import (
	"strings"
	"testing"
)

// TestMaintenanceProgramsAreAnswered as MySQL answers them.
func TestMaintenanceProgramsAreAnswered(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	c := r.connect("")
	for statement, want := range map[string]string{
		"CHECK TABLE jobs": "test.jobs check status OK",
		"CHECK TABLE `test`.`jobs`, nothing FOR UPGRADE": "test.jobs check status OK|test.nothing check " +
			"Error Table 'test.nothing' doesn't exist|test.nothing check status Operation failed",
		"OPTIMIZE NO_WRITE_TO_BINLOG TABLE jobs":                  "test.jobs optimize status OK",
		"REPAIR TABLE jobs QUICK;":                                "test.jobs repair status OK",
		"ANALYZE TABLE jobs":                                      "test.jobs analyze status OK",
		"SHOW GRANTS":                                             "GRANT ALL PRIVILEGES ON *.* TO `root`@`%`",
		"SHOW GRANTS FOR CURRENT_USER()":                          "GRANT ALL PRIVILEGES ON *.* TO `root`@`%`",
		"SHOW GRANTS FOR 'root'@'%'":                              "GRANT ALL PRIVILEGES ON *.* TO `root`@`%`",
		"SHOW STATUS LIKE 'Compression'":                          "Compression OFF",
		"show /*!50002 GLOBAL */ status LIKE 'Threads_connected'": "Threads_connected 1",
		"SHOW GLOBAL STATUS LIKE 'Threads_connected'":             "Threads_connected 1",
		"SELECT variable_value > 0 FROM performance_schema.global_status WHERE variable_name = 'Uptime'": "",
	} {
		got, err := texts(t.Context(), c, statement)
		if want == "" {
			continue
		}
		if text := strings.Join(got, "|"); err != nil || strings.ReplaceAll(text, " | ", " ") != want {
			t.Errorf("%s: %q, %v, want %q", statement, text, err, want)
		}
	}
	for name, least := range map[string]string{"Uptime": "1", "Questions": "1", "Queries": "1",
		"Threads_running": "1"} {
		if got, err := texts(t.Context(), c, "SHOW GLOBAL STATUS LIKE '"+name+"'"); err != nil || len(got) != 1 ||
			strings.HasSuffix(got[0], " 0") {
			t.Errorf("%s: %q, %v, want %s at least", name, got, err, least)
		}
	}
}

// TestGrantsAreShownToWhoHasThem and to nobody else.
func TestGrantsAreShownToWhoHasThem(t *testing.T) {
	r := newRig(t, Config{}, users(t))
	got, err := texts(t.Context(), r.as("putter"), "SHOW GRANTS")
	if want := "GRANT USAGE ON *.* TO `putter`@`%`|GRANT INSERT ON `default`.`jobs` TO `putter`@`%`"; err != nil ||
		strings.Join(got, "|") != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := texts(t.Context(), r.as("putter"), "SHOW GRANTS FOR boss"); errorNumber(err) != 1044 {
		t.Errorf("another's: %v", err)
	}
}

// TestQ4MsFiguresHaveItsNames, and tell how waits ended and how rows came back.
func TestQ4MsFiguresHaveItsNames(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(3)
	c, other := r.connect(""), r.dialRaw()
	one(t, c, int64(1), "SELECT queue_wait('jobs', 0)")
	one(t, c, int64(1), "SELECT queue_abort()")
	one(t, c, int64(1), "SELECT queue_wait('jobs', 0)")
	one(t, c, int64(1), "SELECT queue_end()")
	one(t, c, int64(0), "SELECT queue_wait('jobs:v=7', 0)")
	other.want("SELECT queue_wait('jobs', 0)", "1")
	other.conn.Close()
	r.until("the row is back", func() bool { return r.stats().Claimed == 0 })
	var stats, typ, name, status string
	if err := c.QueryRowContext(t.Context(), "SELECT queue_stats('jobs')").Scan(&stats); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"rows_written: 3\n", "rows_removed: 1\n", "wait_immediate: 3\n", "wait_delayed: 0\n", "wait_timeout: 1\n",
		"restored_by_abort: 1\n", "restored_by_close: 1\n", "bytes_total: ", "bytes_removed: 0\n",
	} {
		if !strings.Contains(stats, line) {
			t.Errorf("queue_stats has no %q:\n%s", line, stats)
		}
	}
	if err := c.QueryRowContext(t.Context(), "SHOW ENGINE QUEUE STATUS").Scan(&typ, &name, &status); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"I/O calls\n---", "sys_sync ", "Conditional subscription\n---", "evaluation ",
		"High-level stats\n---", "rows_written                        3\n", "queue_wait                          4\n",
		"queue_end                           1\n"} {
		if !strings.Contains(status, line) {
			t.Errorf("SHOW ENGINE QUEUE STATUS has no %q:\n%s", line, status)
		}
	}
}

// TestWhatDumpsSayOfPositionsIsPassedOver with a warning.
func TestWhatDumpsSayOfPositionsIsPassedOver(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for _, statement := range []string{
		"CHANGE MASTER TO MASTER_LOG_FILE='mysql-bin.000003', MASTER_LOG_POS=194",
		"CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='binlog.000003', SOURCE_LOG_POS=194",
		"SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5'",
	} {
		exec(t, c, statement)
		if got, err := texts(t.Context(), c, "SHOW WARNINGS"); err != nil || len(got) != 1 ||
			!strings.Contains(got[0], "no replication") {
			t.Errorf("%s: %q, %v", statement, got, err)
		}
	}
	for _, statement := range []string{
		"FLUSH /*!40101 LOCAL */ TABLES", "FLUSH HOSTS", "FLUSH SLOW LOGS", "FLUSH STATUS",
		"FLUSH NO_WRITE_TO_BINLOG TABLES", "/* only a comment */",
		"/*M!100616 SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY=0 */",
		"-- a line\n/*M!999999 enable the sandbox mode */ /*!40101 SET NAMES utf8mb4 */",
	} {
		exec(t, c, statement)
	}
	exec(t, c, "CREATE TABLE y (`a` year(4) DEFAULT NULL, b YEAR (4) NOT NULL) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO y VALUES (2026, 1999)")
	one(t, c, int64(2026), "SELECT a FROM y")
}
