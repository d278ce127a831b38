package benchtest

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// Part is how long a slice is in tests.
const Part = 100 * time.Millisecond

// OpenRaw is a log of the machine's own, in a folder of its own, which ends with the test.
func OpenRaw(t testing.TB) *harness.RawLog {
	t.Helper()
	r, err := harness.NewRawLog(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
