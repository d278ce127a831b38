package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// Event is a line of a trace.
type Event struct {
	Frame  int64 // device.Release: everything is let go
	Player int
	At     time.Time
	State  macro.State
}

// ErrTrace is wrapped by errors about what is no trace.
var ErrTrace = errors.New("trace: not a trace")

// Read reads a trace.
func Read(r io.Reader) (events []Event, err error) {
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		e, err := read(line)
		if err != nil {
			return events, fmt.Errorf("%w: line %d: %w", ErrTrace, n, err)
		}
		events = append(events, e)
	}
	return events, sc.Err()
}

func read(line string) (e Event, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 4 {
		return e, fmt.Errorf("it has %d fields and not 4", len(fields))
	}
	e.Frame = device.Release
	if fields[0] != "-" {
		frame, err := strconv.ParseUint(fields[0], 10, 62)
		if err != nil {
			return e, fmt.Errorf("frame: %w", err)
		}
		e.Frame = int64(frame)
	}
	if e.Player, err = strconv.Atoi(fields[1]); err != nil {
		return e, fmt.Errorf("player: %w", err)
	}
	at, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return e, fmt.Errorf("time: %w", err)
	}
	e.At = time.Unix(0, at)
	e.State, err = macro.ParseState(fields[3])
	return e, err
}
