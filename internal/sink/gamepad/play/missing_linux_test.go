package play_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
)

func TestADeviceThatCannotBeOpenedIsTold(t *testing.T) {
	for _, c := range []struct{ device, says string }{
		{"trace:" + filepath.Join(t.TempDir(), "no", "such", "folder"), "no such file"},
		{"uinput:/dev/no-such-uinput", "modprobe uinput"},
		{"titanone-hid:/dev/no-such-hidraw", "/dev/no-such-hidraw"},
	} {
		script, _ := macro.Read([]byte("lp 1"), macro.Options{})
		pads, err := play.Keep([]string{c.device}, []int{1})
		if err == nil {
			_, err = pads.Start(t.Context(), host, play.Job{Script: script})
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.device, err)
		}
	}
}
