// Package trace is a driver without a device: it writes down what it is told, and when, a line each, for tests and for
// people who want to see what a macro does.
//
//	hikyaku macro play combo.txt --device trace:combo.trace
//
// A line has the frame, the player, the time and the state, with tabs between them:
//
//	0	1	1763812345678901234	9
//	34	1	1763812346246101556	hp
//	-	1	1763812346763345889	5
//
// The time is in nanoseconds since 1970, from the clock at the opening of the file and the monotonic one since then, so
// that differences are true whatever becomes of the system's time meanwhile. The frame of what lets go at the end is a
// dash. Lines that begin with # are remarks.
package trace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/pace"
)

// Driver is the driver.
func Driver() device.Driver {
	return device.Driver{
		Name: "trace", Summary: "writes each state and its time into the FILE; - is the standard error", Target: true,
		Pads: macro.Players,
		Keep: keep,
		Open: func(target string, _ []int) (device.Device, error) { return Open(target) },
	}
}

// Device writes lines into a file.
type Device struct {
	to    io.WriteCloser
	watch *pace.Stopwatch
	since int64 // nanoseconds from 1970 to the making of watch
	line  []byte
	torn  bool // a line was not written whole
}

// toStandardError is the target that is no file.
const toStandardError = "-"

// ofProcess tells whether a name means another file in each process: what plays speaks to the one that asked through
// such files.
func ofProcess(target string) bool {
	clean := filepath.ToSlash(filepath.Clean(target))
	return clean == "/dev/stdin" || clean == "/dev/stdout" || clean == "/dev/stderr" ||
		strings.HasPrefix(clean, "/dev/fd/") ||
		strings.HasPrefix(clean, "/proc/self/") || strings.HasPrefix(clean, "/proc/thread-self/")
}

const firstLine = "# a trace of a macro: frame, player, nanoseconds since 1970, state\n"

// keep makes the file, or empties it. What is no file, like a pipe, stays as it is.
func keep(target string, _ []int) (string, func() error, error) {
	done := func() error { return nil }
	if target == toStandardError {
		return target, done, nil
	}
	if ofProcess(target) {
		return "", nil, fmt.Errorf("trace: %s would be that of the process which plays; write trace:- for the "+
			"standard error, or the name of a file", target)
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return target, done, nil
	}
	if err := os.WriteFile(target, []byte(firstLine), 0o644); err != nil {
		return "", nil, fmt.Errorf("trace: %w", err)
	}
	return target, done, nil
}

// Open goes on at the end of the file, so that one file can tell of several macros.
func Open(target string) (*Device, error) {
	d := &Device{line: make([]byte, 0, 1024)}
	if target == toStandardError {
		d.to = keepOpen{os.Stderr}
	} else {
		f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
		d.to = f
	}
	d.watch, d.since = pace.NewStopwatch(), time.Now().UnixNano()
	return d, nil
}

// keepOpen is a file that is not ours to close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// Write writes a line. Its time is that of the call.
func (d *Device) Write(player int, frame int64, s *macro.State) error {
	at := d.since + int64(d.watch.Elapsed())
	b := d.line[:0]
	if d.torn {
		b = append(b, '\n')
	}
	if frame == device.Release {
		b = append(b, '-')
	} else {
		b = strconv.AppendInt(b, frame, 10)
	}
	b = append(b, '\t')
	b = strconv.AppendInt(b, int64(player), 10)
	b = append(b, '\t')
	b = strconv.AppendInt(b, at, 10)
	b = append(b, '\t')
	b, _ = s.AppendText(b)
	b = append(b, '\n')
	n, err := d.to.Write(b)
	d.torn = n > 0 && n < len(b)
	if err != nil {
		return fmt.Errorf("trace: %w: %w", device.ErrGone, err)
	}
	return nil
}

// Close closes the file.
func (d *Device) Close() error {
	if err := d.to.Close(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}
