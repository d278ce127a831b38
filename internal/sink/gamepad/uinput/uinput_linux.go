package uinput

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// inputDir begins the targets that keep makes: "/dev/input/:1=/dev/input/event7,2=/dev/input/event8".
const inputDir = "/dev/input/:"

// held are pads that events are written to.
type held struct {
	pads  [macro.Players + 1]*seat // by player
	close func() error             // of what this process made itself
}

// seat is a player's pad.
type seat struct {
	file *os.File
	*encoder
	all  bool  // the next write says everything, since what came before is not known
	echo *echo // what others see; nil: nobody has asked for it yet
}

// open opens pads that keep made, or makes them.
func open(target string, players []int) (device.Device, error) {
	h := &held{close: func() error { return nil }}
	if !strings.HasPrefix(target, inputDir) {
		made, closeAll, err := keep(target, players)
		if err != nil {
			return nil, err
		}
		target, h.close = made, closeAll
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(target, inputDir), ",") {
		number, node, ok := strings.Cut(part, "=")
		player, err := strconv.Atoi(number)
		if !ok || err != nil || player < 1 || player > macro.Players {
			return nil, errors.Join(fmt.Errorf("uinput: %q names no pad", part), h.Close())
		}
		f, err := os.OpenFile(node, os.O_WRONLY, 0)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("uinput: the pad of player %d: %w; the right to write to it is that "+
				"of the group input", player, err), h.Close())
		}
		h.pads[player] = &seat{file: f, encoder: newEncoder(), all: true}
	}
	return h, nil
}

// Write writes what changes.
func (h *held) Write(player int, _ int64, s *macro.State) error {
	p := h.pads[player]
	if p == nil {
		return fmt.Errorf("uinput: there is no pad for player %d", player)
	}
	events := p.changes(s, p.all)
	p.all = false
	if len(events) == 0 {
		return nil
	}
	if _, err := p.file.Write(bytesOf(events)); err != nil {
		p.all = true
		if errors.Is(err, syscall.ENODEV) {
			err = device.ErrGone
		}
		return fmt.Errorf("uinput: the pad of player %d: %w", player, err)
	}
	return nil
}

// Close lets go of the pads, and makes those disappear that this process made.
func (h *held) Close() error {
	var all []error
	for _, p := range h.pads {
		if p != nil {
			all = append(all, p.file.Close(), p.echo.close())
		}
	}
	return errors.Join(errors.Join(all...), h.close())
}
