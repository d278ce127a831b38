//go:build !linux && !windows

package serial

import "github.com/hikyaku/hikyaku/internal/sink/gamepad/device"

func open(target string, players []int) (device.Device, error) {
	if _, _, err := place(target); err != nil {
		return nil, err
	}
	return device.Elsewhere(name, "Linux and Windows")(target, players)
}
