//go:build linux

package crash

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inNamespace is set in the environment of a test that runs itself in a namespace of its own.
const inNamespace = "HIKYAKU_CRASH_NAMESPACE"

// ownDisk mounts a file system of that many bytes for a top-level test. Where the test may not mount one, it runs
// itself in a user namespace, where it may: ok is then false, and the test has nothing more to do. A machine that
// allows neither fails the test.
func ownDisk(t *testing.T, bytes int64) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("hikyaku-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
	switch {
	case err == nil:
	case os.Getenv(inNamespace) != "":
		t.Fatalf("mount a small file system in a user namespace: %v", err)
	default:
		againInNamespace(t, err)
		return "", false
	}
	t.Cleanup(func() {
		// EINVAL: the test has unmounted it.
		if err := syscall.Unmount(dir, 0); err != nil && err != syscall.EINVAL {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir, true
}

// againInNamespace runs the test again where it may mount.
func againInNamespace(t *testing.T, refused error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--user", "--map-root-user", "--mount", self, "-test.run=^" + t.Name() + "$", "-test.v",
		"-test.timeout=0"} // this test ends it
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	cmd := exec.CommandContext(t.Context(), "unshare", args...)
	cmd.Env = append(os.Environ(), inNamespace+"=1", builtAlready+"="+binary)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("mount: %v; in a user namespace: %v\n%s", refused, err, out)
	}
	t.Logf("mount: %v; in a user namespace:\n%s", refused, out)
}
