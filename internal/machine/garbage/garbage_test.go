package garbage

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestTheFirstCollectionIsTheOnlyOneThatIsPutOff starts itself with settings of GOGC, and says what they are before and
// after a collection.
func TestTheFirstCollectionIsTheOnlyOneThatIsPutOff(t *testing.T) {
	if os.Getenv("HIKYAKU_GARBAGE_TEST") != "" {
		before := percent()
		if runtime.GC(); before == first {
			for percent() == first { // a goroutine of the runtime sets it
				time.Sleep(time.Millisecond)
			}
		}
		fmt.Printf("%d %d\n", before, percent())
		os.Exit(0)
	}
	for _, c := range []struct{ setting, want string }{
		{"", "400 100\n"},
		{"100", "400 100\n"},
		{"50", "50 50\n"},
		{"off", "-1 -1\n"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", t.Name())
		cmd.Env = append(os.Environ(), "HIKYAKU_GARBAGE_TEST=1", "GOGC="+c.setting)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != c.want {
			t.Errorf("GOGC=%s: %v, before and after a collection it is %s", c.setting, err, out)
		}
	}
}

func percent() int {
	now := debug.SetGCPercent(first)
	debug.SetGCPercent(now)
	return now
}
