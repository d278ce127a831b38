package mysql

import (
	"database/sql"
	"strings"
	"testing"
)

// warnings are what SHOW WARNINGS tells, one behind another.
func warnings(t *testing.T, c *sql.Conn) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), "SHOW WARNINGS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var level, code, message string
		if err := rows.Scan(&level, &code, &message); err != nil {
			t.Fatal(err)
		}
		all = append(all, level+" "+code+" "+message)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "; ")
}

// TestWhatIsThereOrNotIsNoted: programs that make their tables at each start look for the note, or show it.
func TestWhatIsThereOrNotIsNoted(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE a (n int) ENGINE=QUEUE")
	for statement, want := range map[string]string{
		"CREATE TABLE IF NOT EXISTS a (n int) ENGINE=QUEUE": "Note 1050 Table 'a' already exists",
		"CREATE TABLE IF NOT EXISTS a SELECT 1 AS n":        "Note 1050 Table 'a' already exists",
		"CREATE TABLE IF NOT EXISTS a LIKE a":               "Note 1050 Table 'a' already exists",
		"DROP TABLE IF EXISTS nix":                          "Note 1051 Unknown table 'test.nix'",
		"DROP VIEW IF EXISTS `v`":                           "Note 1051 Unknown table 'test.v'",
		"DROP PROCEDURE IF EXISTS other.p;":                 "Note 1305 PROCEDURE other.p does not exist",
		"DROP FUNCTION IF EXISTS f":                         "Note 1305 FUNCTION test.f does not exist",
		"DROP TRIGGER IF EXISTS t":                          "Note 1360 Trigger does not exist",
		"DROP EVENT IF EXISTS e":                            "Note 1539 Unknown event 'e'",
		"CREATE DATABASE IF NOT EXISTS test":                "Note 1007 Can't create database 'test'; database exists",
		"DROP DATABASE IF EXISTS nix": "Note 1008 Can't drop database 'nix'; " +
			"database doesn't exist",
		"SELECT 1": "",
	} {
		exec(t, c, statement)
		if got := warnings(t, c); got != want {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
	exec(t, c, "DROP TABLE IF EXISTS nix")
	warnings(t, c)
	one(t, c, int64(1), "SELECT @@warning_count")
	one(t, c, int64(0), "SELECT count(*) FROM a")
}

// TestADivisionByZeroIsNullAndWarns, and ends an INSERT where the mode is strict.
func TestADivisionByZeroIsNullAndWarns(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE a (n int, m int NOT NULL DEFAULT 1) ENGINE=QUEUE")
	const warned = "Warning 1365 Division by 0"
	for _, expression := range []string{"1 / 0", "1 DIV 0", "1 % 0", "mod(1, 0)", "1e0 / 0"} {
		exec(t, c, "SELECT "+expression+" IS NULL")
		if got := warnings(t, c); !strings.HasPrefix(got, warned) {
			t.Errorf("%s warns of %q", expression, got)
		}
		for _, values := range []string{"(n) VALUES (1), (%)", "(m) VALUES (%)", "(n) SELECT %"} {
			_, err := c.ExecContext(t.Context(), "INSERT INTO a "+strings.ReplaceAll(values, "%", expression))
			failsWith(t, err, 1365, "22012", values+": "+expression)
		}
	}
	_, err := c.ExecContext(t.Context(), "INSERT INTO a (n) VALUES (1 / ?)", 0)
	failsWith(t, err, 1365, "22012", "a parameter")
	one(t, c, int64(0), "SELECT count(*) FROM a")
	exec(t, c, "INSERT IGNORE INTO a (n) VALUES (1 / 0)")
	for mode, want := range map[string]string{"": "", "ERROR_FOR_DIVISION_BY_ZERO": warned, "STRICT_ALL_TABLES": ""} {
		exec(t, c, "SET sql_mode = '"+mode+"'")
		exec(t, c, "INSERT INTO a (n) VALUES (1 / 0)")
		if got := warnings(t, c); got != want {
			t.Errorf("in the mode %q it warns of %q", mode, got)
		}
	}
	one(t, c, int64(4), "SELECT count(*) FROM a WHERE n IS NULL")
	one(t, r.connect(""), int64(6), "SELECT 1 + length(@@sql_mode) - length(replace(@@sql_mode, ',', ''))")
}

// TestWarningsOfAStatementAreBounded: one that divides a million times by 0 keeps no million of them.
func TestWarningsOfAStatementAreBounded(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE a (n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO a VALUES (0)"+strings.Repeat(", (0)", 2000))
	exec(t, c, "SELECT sum(1 / n) FROM a")
	one(t, c, int64(maxWarnings), "SELECT @@warning_count")
}
