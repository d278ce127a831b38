package pushtest

import (
	"context"
	"testing"
	"time"
)

// Eventually looks again and again until it is so, for what nothing tells of: a setting of the far end that has
// arrived, a file that was read.
func Eventually(t testing.TB, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	for !so() {
		select {
		case <-ctx.Done():
			t.Fatal("it never was")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
