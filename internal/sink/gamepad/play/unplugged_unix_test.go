//go:build unix

package play_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// TestADeviceThatGoesAwayEndsTheRun plays on a pipe whose reader goes away in the middle.
func TestADeviceThatGoesAwayEndsTheRun(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		f, err := os.Open(pipe)
		if err != nil {
			read <- err.Error()
			return
		}
		line, _ := bufio.NewReader(f).ReadString('\n')
		f.Close()
		read <- line
	}()
	report, err := run(t, host, "<loop 100000>\nlp 1\n5 1\n</loop>", macro.Options{}, "trace:"+pipe)
	if err == nil || !strings.Contains(err.Error(), "the device has gone") {
		t.Errorf("%v", err)
	}
	if !report.Stopped || report.Played == 0 {
		t.Errorf("%d frames were played; stopped: %v", report.Played, report.Stopped)
	}
	if line := <-read; !strings.HasPrefix(line, "0\t1\t") {
		t.Errorf("the first line: %q", line)
	}
}
