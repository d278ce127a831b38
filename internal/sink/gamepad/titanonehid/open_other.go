//go:build !linux

package titanonehid

import "github.com/hikyaku/hikyaku/internal/sink/gamepad/device"

func open(target string, players []int) (device.Device, error) {
	return device.Elsewhere(name, "Linux")(target, players)
}
