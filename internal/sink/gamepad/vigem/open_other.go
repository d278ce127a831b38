//go:build !windows

package vigem

import "github.com/hikyaku/hikyaku/internal/sink/gamepad/device"

func open(target string, players []int) (device.Device, error) {
	return device.Elsewhere(name, "Windows")(target, players)
}
