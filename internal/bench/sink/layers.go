package sink

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/machine"
)

// The layers of a courier, in the order in which a line passes them.
const (
	layerRead    = "read"
	layerDecode  = "decode"
	layerBatch   = "batch"
	layerConvert = "convert"
	layerEncode  = "encode"
	layerWire    = "wire"
	layerEngine  = "SQLite"
	layerRuntime = "runtime"
	layerOther   = "other"
	layerServer  = "server"
)

// layerOf says which layer a function belongs to; the first one that matches, from the innermost call out, decides.
var layerOf = [...]struct{ prefix, layer string }{
	{"github.com/hikyaku/hikyaku/internal/lines.", layerRead},
	{"github.com/hikyaku/hikyaku/internal/source/", layerRead},
	{"github.com/hikyaku/hikyaku/internal/codec.", layerDecode},
	{"github.com/hikyaku/hikyaku/internal/transform/", layerDecode},
	{"github.com/hikyaku/hikyaku/internal/rows.", layerConvert},
	{"github.com/hikyaku/hikyaku/internal/sink/", layerEncode},
	{"github.com/hikyaku/hikyaku/tsurugi", layerEncode},
	{"github.com/jackc/pgx/", layerEncode},
	{"github.com/go-sql-driver/", layerEncode},
	{"database/sql.", layerEncode},
	{"modernc.org/sqlite", layerEngine},
	{"modernc.org/libc", layerEngine},
	{"github.com/hikyaku/hikyaku/internal/pipeline.", layerBatch},
	{"github.com/hikyaku/hikyaku/internal/bench.", layerOther}, // what measures
}

// wirePrefixes are functions with which something goes over the wire, when a client calls them.
var wirePrefixes = [...]string{"syscall.", "internal/poll.", "net.", "internal/runtime/syscall", "bufio."}

// layerOfStack is that of a stack, innermost first.
func layerOfStack(stack []string) string {
	wire := false
	for _, name := range stack {
		for _, p := range wirePrefixes {
			wire = wire || strings.HasPrefix(name, p)
		}
		for _, l := range layerOf {
			if strings.HasPrefix(name, l.prefix) {
				if wire && l.layer == layerEncode {
					return layerWire
				}
				return l.layer
			}
		}
	}
	return layerRuntime // garbage collection, scheduling
}

// leastLayered is how long a run has to take for its layers to say anything: before, the start of the courier is most
// of what the machine works.
const leastLayered = time.Second

// layers tells where the time goes: how far the way to the sink would reach if it took no time, and what each layer
// takes of the processors.
func (s *session) layers(ctx context.Context) error {
	reading := s.asFast(partLayers, doubleSchema(10), s.bare)
	reading.way, reading.raw = wayNothing, true
	decoding := s.asFast(partLayers, reading.schema, s.bare)
	decoding.way = wayNothing
	for _, l := range []struct {
		run  *sinkRun
		upTo string
	}{{reading, "read"}, {decoding, "read, decode, batch"}} {
		f := &sinkFound{run: l.run}
		if err := s.again(ctx, f); err != nil {
			return err
		}
		s.sinkRow(f).Set("layer", "up to "+l.upTo)
		s.Step()
	}

	whole := s.asFast(partLayers, reading.schema, s.bare)
	whole.profile = filepath.Join(s.Temp, "courier.pprof")
	f := &sinkFound{run: whole}
	busy := machineBusy()
	bench := machine.ProcessorTime()
	took, err := s.runAsked(ctx, f)
	if err != nil {
		return err
	}
	busy = machineBusy() - busy - (machine.ProcessorTime() - bench) - time.Duration(took.CPUUS)*time.Microsecond
	f.tooks = append(f.tooks, took)
	s.sinkRow(f).Set("layer", "whole")
	s.Step()
	times, err := s.profiled(whole.profile)
	if err != nil {
		return err
	}
	if s.To != toSQLite && busy > 0 && took.elapsed >= leastLayered {
		times[layerServer] = busy // with the courier's start in it
	}
	s.tellLayers(times, took)
	return nil
}

// tellLayers adds a row for each layer, and names the one that takes most.
func (s *session) tellLayers(times map[string]time.Duration, took *sinkTook) {
	var most string
	var sum time.Duration
	for _, layer := range []string{layerRead, layerDecode, layerBatch, layerConvert, layerEncode, layerWire,
		layerEngine, layerServer, layerRuntime, layerOther} {
		t := times[layer]
		if t <= 0 {
			continue
		}
		sum += t
		if most == "" || t > times[most] {
			most = layer
		}
		s.Report.Row(harness.CaseOurs, partLayers).Set("server", s.To).Set("columns", 10).Set("layer", layer).
			Set("cpu_us", harness.Hundredths(float64(t.Microseconds())/float64(took.events))).
			Set("busy", harness.Hundredths(t.Seconds()/took.elapsed.Seconds()))
	}
	if most == "" || took.elapsed < leastLayered {
		s.Report.Note("layers: too little time passed to say what takes it")
		return
	}
	processors := sum.Seconds() / took.elapsed.Seconds()
	note := fmt.Sprintf("layers: %s takes most, %.0f %% of the processor time; %.1f of %d processors were busy", most,
		100*times[most].Seconds()/sum.Seconds(), processors, runtime.NumCPU())
	if processors < 0.75*float64(runtime.NumCPU()) && times[most].Seconds() < 0.75*took.elapsed.Seconds() {
		note += ": what rules is waiting, for the disk or for answers"
	} else {
		note += ": that is what rules"
	}
	s.Report.Note(note)
}

// profiled sums a profile up by layers.
func (s *session) profiled(name string) (map[string]time.Duration, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the profile of a courier: %w", err)
	}
	if s.Profile != "" {
		kept := filepath.Join(s.Profile, "courier-"+s.To+".pprof")
		if err := os.MkdirAll(s.Profile, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(kept, text, 0o644); err != nil {
			return nil, err
		}
	}
	times := map[string]time.Duration{}
	err = readProfile(text, func(stack []string, t time.Duration) { times[layerOfStack(stack)] += t })
	if err != nil {
		return nil, fmt.Errorf("read the profile of a courier: %w", err)
	}
	return times, nil
}

// machineBusy is what the processors of this machine have worked, as Linux tells; 0 elsewhere. It counts in hundredths
// of a second.
func machineBusy() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0
	}
	sum := uint64(0)
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, interrupts
		n, err := strconv.ParseUint(fields[i], 10, 64)
		if err != nil {
			return 0
		}
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond
}
