package bench

import (
	"testing"
	"time"
)

// part is how long a slice is in tests.
const part = 100 * time.Millisecond

// openedRaw is a log of the machine's own, in a folder of its own, which ends with the test.
func openedRaw(t testing.TB) *rawLog {
	t.Helper()
	r, err := newRawLog(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
