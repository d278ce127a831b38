// Package doortest is what tests of several doors share.
package doortest

import (
	"testing"
	"time"
)

// Until waits for what can be seen from outside: a door works on a connection in goroutines of its own, and over real sockets, where no bubble of
// synctest reaches. It fails after a minute, which only a broken door takes.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came that " + what)
		}
	}
}
