package mysql

import "testing"

// TestTablesThatAreDroppedAndEmptied are answered as by MySQL: one that there is not is unknown, and no rows are
// counted.
func TestTablesThatAreDroppedAndEmptied(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(3)
	c := r.connect("")
	_, err := c.ExecContext(t.Context(), "DROP TABLE no_such")
	failsWith(t, err, 1051, "42S02", "DROP TABLE")
	exec(t, c, "DROP TABLE IF EXISTS no_such")
	_, err = c.ExecContext(t.Context(), "TRUNCATE TABLE no_such")
	failsWith(t, err, 1146, "42S02", "TRUNCATE TABLE")
	done, err := c.ExecContext(t.Context(), "TRUNCATE TABLE jobs")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
	one(t, c, int64(0), "SELECT count(*) FROM jobs")
}
