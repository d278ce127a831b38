//go:build guests

package qemu

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestMacrosArePlayedOnTheKernelsOwnDevices runs the guest's scenes, each as a test of its own.
func TestMacrosArePlayedOnTheKernelsOwnDevices(t *testing.T) {
	kernel := os.Getenv("HIKYAKU_GUEST_KERNEL")
	if kernel == "" {
		t.Fatal("there is no kernel to boot: these tests are run by scripts/guests qemu, which gets one")
	}
	findings, console := boot(t, kernel)
	scenes, want := 0, 0
	for _, f := range findings {
		if f.End != "" {
			want = f.Scenes
			t.Logf("Linux %s", f.End)
			continue
		}
		scenes++
		t.Run(f.Test, func(t *testing.T) {
			t.Logf("%s\n%s", time.Duration(f.Millis)*time.Millisecond, strings.Join(f.Logged, "\n"))
			for _, failed := range f.Failed {
				t.Error(failed)
			}
		})
	}
	if want == 0 || scenes != want {
		t.Errorf("the machine told of %d scenes, and at its end of %d; 0: it did not come to it. %s", scenes, want,
			console)
	}
}
