package mysql

import "testing"

// TestASavepointThatIsNoneIsAnError, and one lasts no longer than its transaction.
func TestASavepointThatIsNoneIsAnError(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for _, step := range []struct {
		statement string
		number    int
	}{
		{"ROLLBACK TO a", 1305},
		{"RELEASE SAVEPOINT a", 1305},
		{"SAVEPOINT a", 0}, // outside of a transaction it is gone at once
		{"ROLLBACK TO a", 1305},
		{"BEGIN", 0},
		{"SAVEPOINT a", 0},
		{"SAVEPOINT b", 0},
		{"ROLLBACK WORK TO SAVEPOINT A", 0},
		{"ROLLBACK TO a", 0},
		{"ROLLBACK TO b", 1305},
		{"SAVEPOINT `b`", 0},
		{"SAVEPOINT a", 0}, // the older one is gone
		{"RELEASE SAVEPOINT a", 0},
		{"ROLLBACK TO a", 1305},
		{"ROLLBACK TO b", 0},
		{"COMMIT", 0},
		{"ROLLBACK TO b", 1305},
		{"SET autocommit = 0", 0},
		{"SAVEPOINT a", 0},
		{"RELEASE SAVEPOINT a", 0},
	} {
		if _, err := c.ExecContext(t.Context(), step.statement); errorNumber(err) != step.number {
			t.Errorf("%s: %v, want error %d", step.statement, err, step.number)
		}
	}
}
