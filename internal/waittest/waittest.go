// Package waittest waits, for tests, for what can only be seen from outside: of other processes, of files, of sockets,
// where no bubble of synctest reaches and nothing tells of a change.
package waittest

import (
	"testing"
	"time"
)

// patience is what only something broken takes.
const patience = time.Minute

// Until looks again and again until it is so. It fails the test after a minute.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come within %v that %s", patience, what)
		}
	}
}
