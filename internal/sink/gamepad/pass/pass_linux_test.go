package pass

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/pace"
)

// stamps is a device that tells when it was written to.
type stamps chan time.Duration

func (s stamps) Write(int, int64, *macro.State) error { s <- evdev.Clock(); return nil }
func (s stamps) Close() error                         { return nil }

// BenchmarkAChangeOnItsWay measures from before the write into a pipe, which stands for the kernel's queue of events,
// to the beginning of the write to the device.
func BenchmarkAChangeOnItsWay(b *testing.B) {
	pipe := filepath.Join(b.TempDir(), "event7")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		b.Fatal(err)
	}
	to, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer to.Close()
	source, err := evdev.Open(pipe, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	ctx, cancel := context.WithCancel(b.Context())
	wrote, ended := make(stamps, 1), make(chan error, 1)
	var r Report
	go func() { ended <- Run(ctx, source, wrote, NewMixer(pace.NTSC(), nil), 0, &r) }()
	<-wrote // what it begins with
	var took pace.Histogram
	for i := range b.N {
		time.Sleep(time.Millisecond) // as between presses, it sleeps
		report := append(event(1, 0x130, int32(1-i%2)), event(0, 0, 0)...)
		began := evdev.Clock()
		if _, err := to.Write(report); err != nil {
			b.Fatal(err)
		}
		took.Add(<-wrote - began)
	}
	cancel()
	<-wrote // everything let go
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(took.Quantile(0.5).Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took.Quantile(0.99).Nanoseconds()), "p99-ns")
	b.ReportMetric(float64(took.Max().Nanoseconds()), "longest-ns")
}

// event is a struct input_event without a time.
func event(kind, code uint16, value int32) []byte {
	b := binary.NativeEndian.AppendUint16(make([]byte, 2*strconv.IntSize/8), kind)
	b = binary.NativeEndian.AppendUint16(b, code)
	return binary.NativeEndian.AppendUint32(b, uint32(value))
}
