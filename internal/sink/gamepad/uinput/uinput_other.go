//go:build !linux

package uinput

import "github.com/hikyaku/hikyaku/internal/sink/gamepad/device"

func open(target string, players []int) (device.Device, error) {
	return device.Elsewhere(name, "Linux")(target, players)
}

func keep(target string, players []int) (string, func() error, error) {
	_, err := open(target, players)
	return "", nil, err
}
