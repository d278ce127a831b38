//go:build guests

package wine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const programName = "hikyaku-pad.exe"

// patience is how long anything may take, on a machine that is busy with something else.
const patience = time.Minute

// wine is a program for Windows, with a few more variables in its environment. It is ended with the test.
func wine(t *testing.T, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "wine", args...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// pad is the program, with the library that writes down what it is given beside it.
func pad(t *testing.T, r *record, env []string, args ...string) *exec.Cmd {
	return wine(t, append(env, "GCDAPI_RECORD="+windows(r.file)), append([]string{programName}, args...)...)
}

// windows is what programs for Windows call a file.
func windows(file string) string { return "Z:" + strings.ReplaceAll(file, "/", `\`) }

// end runs a program to its end, and returns what it said. It has a file to write to, and no pipe: Wine's server, which
// lives on, would hold that open.
func end(t *testing.T, cmd *exec.Cmd) (said string, err error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	text, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), err
}

// status is the exit status that an error of end tells.
func status(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return -1
}

// await waits until something has become true.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	late := time.After(patience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("waited %s for this: %s", patience, what)
		}
	}
}
