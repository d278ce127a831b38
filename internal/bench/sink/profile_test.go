package sink

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hikyaku/hikyaku/internal/machine"
)

func TestAProfileIsReadAsItWasWritten(t *testing.T) {
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Fatal(err)
	}
	var sum [sha256.Size]byte
	for began := machine.ProcessorTime(); machine.ProcessorTime()-began < 300*time.Millisecond; { // so much work
		for range 1000 {
			sum = sha256.Sum256(sum[:])
		}
	}
	pprof.StopCPUProfile()
	var ours, all time.Duration
	err := readProfile(profile.Bytes(), func(stack []string, d time.Duration) {
		all += d
		if slices.ContainsFunc(stack,
			func(name string) bool { return strings.HasSuffix(name, "TestAProfileIsReadAsItWasWritten") }) {
			ours += d
		}
	})
	if err != nil || ours <= 0 || ours > all {
		t.Errorf("%v of %v: %v", ours, all, err)
	}
}

func TestWhatIsNoProfileIsRefused(t *testing.T) {
	for name, text := range map[string][]byte{"empty": nil, "text": []byte("hello"), "cut": zipped([]byte{0x12, 0x7f}),
		"number": zipped([]byte{0x0f})} {
		if err := readProfile(text, func([]string, time.Duration) {}); !errors.Is(err, errProfile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b) // into memory
	_ = z.Close()
	return out.Bytes()
}

// smallProfile has one sample: 5 ms in g, called by f.
func smallProfile() []byte {
	part := func(fields ...uint64) (b []byte) {
		for i := 0; i < len(fields); i += 2 {
			b = protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(fields[i]), protowire.VarintType),
				fields[i+1])
		}
		return b
	}
	add := func(b []byte, n protowire.Number, part []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), part)
	}
	var b []byte
	b = add(b, profileSample, add(part(1, 1, 1, 2), 2, []byte{1, 0xc0, 0x96, 0xb1, 0x02}))
	for i := range uint64(2) {
		b = add(b, profileLocation, add(part(1, i+1), 4, part(1, i+1)))
		b = add(b, profileFunction, part(1, i+1, 2, i+1))
	}
	for _, name := range []string{"", "g", "f"} {
		b = add(b, profileStrings, []byte(name))
	}
	return b
}

func TestSamplesAreCountedByTheirStack(t *testing.T) {
	calls := 0
	err := readProfile(zipped(smallProfile()), func(stack []string, d time.Duration) {
		if calls++; !slices.Equal(stack, []string{"g", "f"}) || d != 5*time.Millisecond {
			t.Errorf("%v: %v", stack, d)
		}
	})
	if err != nil || calls != 1 {
		t.Errorf("%d samples, %v", calls, err)
	}
}

func FuzzReadProfile(f *testing.F) {
	f.Add(smallProfile())
	f.Add([]byte{0x12, 0x02, 0x0a, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := readProfile(zipped(b), func([]string, time.Duration) {}); err != nil && !errors.Is(err, errProfile) {
			t.Error(err)
		}
	})
}

func TestEachFunctionHasItsLayer(t *testing.T) {
	const ours = "github.com/hikyaku/hikyaku/internal/"
	for want, stack := range map[string][]string{
		layerRead: {"syscall.read", "internal/poll.(*FD).Read", "os.(*File).Read", ours + "lines.(*Reader).fill",
			ours + "source/stdin.(*Source).Run"},
		layerDecode: {"runtime.mallocgc", ours + "codec.(*Decoder).Decode",
			ours + "transform/decode.transform.Transform", ours + "pipeline.(*Pipeline).transformOne"},
		layerBatch:   {"sync.(*Mutex).Lock", ours + "pipeline.(*stage).push", ours + "source/stdin.(*Source).send"},
		layerConvert: {ours + "rows.(*Sink).Send", ours + "pipeline.(*Pipeline).deliver"},
		layerEncode: {"runtime.memmove", "github.com/hikyaku/hikyaku/tsurugi/internal/wire.Append",
			ours + "rows.(*Sink).Send"},
		layerWire: {"syscall.write", "internal/poll.(*FD).Write", "net.(*conn).Write",
			"github.com/jackc/pgx/v5/pgconn.(*PgConn).flush"},
		layerEngine: {"modernc.org/libc.Xmemcpy", "modernc.org/sqlite/lib._sqlite3VdbeExec",
			"database/sql.(*Stmt).Exec"},
		layerRuntime: {"runtime.scanobject", "runtime.gcDrain"},
		layerOther:   {"time.Now", ours + "bench.timedOut.Send", ours + "source/stdin.(*Source).Run"},
	} {
		if got := layerOfStack(stack); got != want {
			t.Errorf("%v is %s, want %s", stack, got, want)
		}
	}
}
