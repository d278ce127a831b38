//go:build guests

package wine

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// vigem plays a macro on the stand-in for ViGEmClient.dll, and returns what that was asked.
func vigem(t *testing.T, macro string, env ...string) (calls []string, said string, code int) {
	t.Helper()
	recorded := path.Join(t.TempDir(), "record")
	said, err := end(t, wine(t, append(env, "VIGEM_RECORD="+windows(recorded)), programName, "macro", "play",
		text(t, macro), "--device", "vigem"))
	b, readErr := os.ReadFile(recorded)
	if readErr != nil && !os.IsNotExist(readErr) {
		t.Fatal(readErr)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), said, status(t, err)
}

// TestAVirtualXboxPadIsPluggedInPressedAndUnplugged: each report is the one of ViGEm's header, field for field.
func TestAVirtualXboxPadIsPluggedInPressedAndUnplugged(t *testing.T) {
	calls, said, code := vigem(t, "9,hp 3\n2,mk 2\nlx=-100,ly=-100,rx=50,l2=40 2\n<player 2>\nps 4\n</player>\n")
	var one, two, rest []string
	for _, c := range calls {
		switch {
		case strings.HasPrefix(c, "update 1 "):
			one = append(one, c)
		case strings.HasPrefix(c, "update 2 "):
			two = append(two, c)
		default:
			rest = append(rest, c)
		}
	}
	for _, c := range []struct{ got, want []string }{
		{slices.Compact(one), []string{"update 1 0209 0 0 0 0 0 0", "update 1 2002 0 0 0 0 0 0",
			"update 1 0000 102 0 -32767 32767 16383 0", "update 1 0000 0 0 0 0 0 0"}},
		{slices.Compact(two), []string{"update 2 0400 0 0 0 0 0 0", "update 2 0000 0 0 0 0 0 0"}},
		{rest, []string{"add 1", "add 2", "remove 1", "remove 2", "disconnect 0", "free 0"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("the library was asked %q, not %q", c.got, c.want)
		}
	}
	if code != 0 {
		t.Errorf("it ended with %d:\n%s", code, said)
	}
}

func TestAMissingBusAndAPadThatIsPulledOutAreTold(t *testing.T) {
	for env, want := range map[string]string{
		"VIGEM_CONNECT=0xE0000001": "the driver ViGEmBus is not installed",
		"VIGEM_CONNECT=0xE0000008": "of another version than the library",
		"VIGEM_ADD=0xE0000002":     "has no room for another pad",
		"VIGEM_ADD=0xE0000015":     "plug in a pad: the library answered 0xE0000015",
		"VIGEM_UNPLUG=1":           "the pad was unplugged",
	} {
		calls, said, code := vigem(t, "lp 2\nmp 2\n", env)
		if code != 1 || !strings.Contains(said, want) {
			t.Errorf("%s: %d\n%s", env, code, said)
		}
		if last := calls[len(calls)-1]; last != "free 0" {
			t.Errorf("%s: the library is left with %q", env, calls)
		}
	}
}
