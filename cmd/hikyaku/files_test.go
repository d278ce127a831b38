//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAStartWithTooFewFilesSaysWhatToDo starts a server that may have so few files open that it cannot open what it
// needs, in several places.
func TestAStartWithTooFewFilesSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "serve.yaml")
	if err := os.WriteFile(config, []byte(onlyHTTP), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, files := range []string{"8", "12"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -n "+files+"; exec \"$0\" serve -c \"$1\"", binary,
			config)
		cmd.Env = append(os.Environ(), "HIKYAKU_DATA="+filepath.Join(dir, "data"+files))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
			t.Fatalf("%s files: %v\n%s", files, err, out)
		}
		for _, want := range []string{"too many open files\n", "data" + files + "/journal",
			"this process may have " + files + " files open", "LimitNOFILE"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s files: %q is not in\n%s", files, want, out)
			}
		}
	}
}
