// Package doortest is what tests of several doors share.
package doortest

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// Until waits for what can be seen from outside: a door works on a connection in goroutines of its own, and over real
// sockets, where no bubble of synctest reaches. It fails after a minute, which only a broken door takes.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	waittest.Until(t, what, is)
}

// Packed is a text in gzip.
func Packed(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
