package mysql

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
)

// TestTheCommonestErrorsHaveMySQLsWords: programs look for them in the text, as Laravel and WordPress do.
func TestTheCommonestErrorsHaveMySQLsWords(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	c := r.connect("")
	for statement, want := range map[string]string{
		"SELECT * FROM nothing":                    "1146 Table 'test.nothing' doesn't exist",
		"SELECT * FROM shop.nothing":               "1146 Table 'shop.nothing' doesn't exist",
		"SELECT * FROM jobs, shop.nothing":         "1146 Table 'shop.nothing' doesn't exist",
		"SELECT (SELECT 1 FROM nothing)":           "1146 Table 'test.nothing' doesn't exist",
		"INSERT INTO nothing VALUES (1)":           "1146 Table 'test.nothing' doesn't exist",
		"INSERT INTO shop.nothing VALUES (1)":      "1146 Table 'shop.nothing' doesn't exist",
		"DELETE FROM shop.nothing":                 "1146 Table 'shop.nothing' doesn't exist",
		"TRUNCATE nothing":                         "1146 Table 'test.nothing' doesn't exist",
		"DESCRIBE nothing":                         "1146 Table 'test.nothing' doesn't exist",
		"SHOW CREATE TABLE shop.nothing":           "1146 Table 'shop.nothing' doesn't exist",
		"SHOW INDEX FROM nothing":                  "1146 Table 'test.nothing' doesn't exist",
		"ALTER TABLE nothing ADD COLUMN a int":     "1146 Table 'test.nothing' doesn't exist",
		"ALTER TABLE nothing RENAME TO other":      "1146 Table 'test.nothing' doesn't exist",
		"RENAME TABLE shop.nothing TO other":       "1146 Table 'shop.nothing' doesn't exist",
		"DROP TABLE nothing":                       "1051 Unknown table 'test.nothing'",
		"DROP TABLE shop.nothing":                  "1051 Unknown table 'shop.nothing'",
		"DROP DATABASE nothing":                    "1008 Can't drop database 'nothing'; database doesn't exist",
		"USE mysql":                                "1049 Unknown database 'mysql'",
		"CREATE DATABASE test":                     "1007 Can't create database 'test'; database exists",
		"SELECT nothing FROM jobs":                 "1054 Unknown column 'nothing' in",
		"SELECT j.nothing FROM jobs j":             "1054 Unknown column 'nothing' in",
		"INSERT INTO jobs (nothing) VALUES (1)":    "1054 Unknown column 'nothing' in",
		"INSERT INTO jobs (v) VALUES (1, 2)":       "1136 Column count doesn't match value count",
		"CREATE TABLE jobs (v int) ENGINE=QUEUE":   "1050 Table 'jobs' already exists",
		"SELEC 1":                                  "1064 You have an error in your SQL syntax",
		"SELECT nothing(1)":                        "1305 FUNCTION nothing does not exist",
		"INSERT INTO n VALUES (NULL) /* a NULL */": "1048 Column 'v' cannot be null",
	} {
		if strings.HasPrefix(statement, "INSERT INTO n ") {
			exec(t, c, "CREATE TABLE n (v int NOT NULL) ENGINE=QUEUE")
		}
		_, err := c.ExecContext(t.Context(), statement)
		var told *driver.MySQLError
		if !errors.As(err, &told) || !strings.HasPrefix(fmt.Sprintf("%d %s", told.Number, told.Message), want) {
			t.Errorf("%s: %v, want %s", statement, err, want)
		}
		if told == nil || told.Number != 1146 {
			continue
		}
		if _, err := c.PrepareContext(t.Context(), statement); err != nil { // some are read when they are executed
			if !errors.As(err, &told) || told.Number == 1146 && !strings.HasPrefix(told.Message, want[5:]) {
				t.Errorf("prepared, %s: %v, want %s", statement, err, want)
			}
		}
	}
}
