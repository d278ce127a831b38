package mysql

import (
	"strings"
	"testing"
)

// TestAChecksumTellsTablesApart: it is the same for the same rows in any order, and another for others.
func TestAChecksumTellsTablesApart(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for _, statement := range []string{
		"CREATE TABLE x (a int, s varchar(9)) ENGINE=QUEUE", "CREATE TABLE y (a int, s varchar(9)) ENGINE=QUEUE",
		"CREATE TABLE z (a int, s varchar(9)) ENGINE=QUEUE", "CREATE TABLE none (a int) ENGINE=QUEUE",
		"INSERT INTO x VALUES (1, 'one'), (2, NULL)", "INSERT INTO y VALUES (2, NULL), (1, 'one')",
		"INSERT INTO z VALUES (1, 'one'), (2, '')",
	} {
		exec(t, c, statement)
	}
	sums := map[string]string{}
	got, err := texts(t.Context(), c, "CHECKSUM TABLE x, y, z EXTENDED")
	if err != nil || len(got) != 3 {
		t.Fatalf("%q, %v", got, err)
	}
	for _, line := range got {
		table, sum, _ := strings.Cut(line, " ")
		sums[table] = sum
	}
	if sums["test.x"] != sums["test.y"] || sums["test.x"] == sums["test.z"] || sums["test.x"] == "0" {
		t.Errorf("sums of equal and other rows: %v", sums)
	}
	for statement, want := range map[string]string{
		"CHECKSUM TABLE none":                   "test.none 0",
		"CHECKSUM TABLE x QUICK":                "test.x NULL",
		"CHECKSUM TABLE nothing":                "test.nothing NULL",
		"CHECKSUM TABLE `test`.`x`, test . `y`": "test.x " + sums["test.x"] + "; test.y " + sums["test.x"],
	} {
		if got, err := texts(t.Context(), c, statement); err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, %v, want %q", statement, got, err, want)
		}
	}
	exec(t, c, "CHECKSUM TABLE nothing")
	got, err = texts(t.Context(), c, "SHOW WARNINGS")
	if err != nil || len(got) != 1 || !strings.Contains(got[0], "1146") {
		t.Errorf("the warning: %q, %v", got, err)
	}
}

// TestAChecksumNeedsTheRightToRead, as a SELECT does.
func TestAChecksumNeedsTheRightToRead(t *testing.T) {
	r := newRig(t, Config{}, users(t))
	r.makeJobs(1)
	_, err := texts(t.Context(), r.as("putter"), "CHECKSUM TABLE test.jobs")
	failsWith(t, err, 1142, "42000", "a checksum for who may only put")
}

// TestHistogramsAreAnswered as MySQL answers them.
func TestHistogramsAreAnswered(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	c := r.connect("")
	for statement, want := range map[string]string{
		"ANALYZE TABLE jobs UPDATE HISTOGRAM ON v": "test.jobs histogram status " +
			"Histogram statistics created for column 'v'.",
		"ANALYZE LOCAL TABLE `test`.jobs UPDATE HISTOGRAM ON `v`, w WITH 16 BUCKETS;": "test.jobs histogram status " +
			"Histogram statistics created for column 'v'.; test.jobs histogram Error The column 'w' does not exist.",
		"ANALYZE TABLE jobs DROP HISTOGRAM ON v": "test.jobs histogram status " +
			"Histogram statistics removed for column 'v'.",
		"ANALYZE TABLE nothing UPDATE HISTOGRAM ON v": "test.nothing histogram Error " +
			"Table 'test.nothing' doesn't exist",
	} {
		if got, err := texts(t.Context(), c, statement); err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, %v, want %q", statement, got, err, want)
		}
	}
}
