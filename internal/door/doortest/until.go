// Package doortest is what tests of several doors share.
package doortest

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// Until waits for what can be seen from outside: a door works on a connection in goroutines of its own, and over real
// sockets, where no bubble of synctest reaches. It fails after a minute, which only a broken door takes.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	waittest.Until(t, what, is)
}
