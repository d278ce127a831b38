package sink

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/pipeline"
)

// sinkSaid is a line that a courier writes: that it is ready, what the last moments were like, and at its end what the
// run was like.
type sinkSaid struct {
	Done    bool    `json:"done,omitempty"`
	AtUS    int64   `json:"at_us,omitempty"` // since it was ready
	Settled int64   `json:"settled"`         // messages so far
	CPUUS   int64   `json:"cpu_us"`          // of the process, since it was ready
	RSS     int64   `json:"rss"`
	MeanMS  float64 `json:"mean_ms,omitempty"` // from reading to commit, in a window
	P99MS   float64 `json:"p99_ms,omitempty"`

	Requests int64  `json:"requests,omitempty"`
	Largest  int    `json:"largest,omitempty"`
	Retries  int64  `json:"retries,omitempty"`
	Dead     int64  `json:"dead,omitempty"`
	Failure  string `json:"failure,omitempty"` // the sink's last one
}

// serveCourier runs a configuration as hikyaku -c FILE does, with the lines of in, and notes when each line was read
// and when what became of it was settled.
func (f *sinkFlags) serveCourier(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	file, err := config.Load(f.config, os.LookupEnv)
	if err != nil {
		return err
	}
	r, err := harness.OpenRig(ctx, filepath.Join(f.dir, "journal"), harness.Setting{SegmentBytes: 1 << 20})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := file.Define(ctx, r.Store, false); err != nil {
		return err
	}
	built, err := file.Build(r.Store, component.Env{Stdin: in, Stdout: io.Discard})
	if err != nil {
		return err
	}
	say := json.NewEncoder(out)
	var began time.Time
	var cpu time.Duration
	source := &timedSource{events: f.events, windows: f.every > 0}
	source.ready = func() error {
		if f.profile != "" {
			p, err := os.Create(f.profile)
			if err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(p); err != nil {
				return errors.Join(err, p.Close())
			}
		}
		began, cpu = time.Now(), machine.ProcessorTime()
		return say.Encode(sinkSaid{})
	}
	for i := range built.Nodes {
		switch n := &built.Nodes[i]; {
		case n.Source != nil:
			source.Source, n.Source = n.Source, source
		case n.Sink != nil && f.way != "":
			if n.Sink, err = f.otherSink(n.Sink); err != nil {
				return err
			}
		}
	}
	p, err := pipeline.New(built.Nodes, pipeline.Options{Store: r.Store, Finite: true, Slack: pipeline.RunSlack})
	if err != nil {
		return err
	}
	now := func() sinkSaid {
		return sinkSaid{AtUS: time.Since(began).Microseconds(), Settled: source.settled.Load(),
			CPUUS: (machine.ProcessorTime() - cpu).Microseconds(), RSS: machine.ResidentBytes()}
	}
	result, err := f.watch(ctx, p, source, say, now)
	if f.profile != "" {
		pprof.StopCPUProfile()
	}
	if err != nil {
		return err
	}
	last := now()
	last.Done = true
	for _, n := range result.Nodes {
		// which a sink into a database does again itself
		last.Retries += int64(n.Retries) + int64(n.Counts["conflicts"])
		last.Dead += int64(n.Dead)
		if n.Dead > 0 || n.Kind == pipeline.KindSink {
			last.Requests, last.Largest, last.Failure = int64(n.Requests), n.LargestBatch, n.LastError
		}
	}
	if f.times != "" {
		if err := source.writeTimes(f.times); err != nil {
			return err
		}
	}
	return say.Encode(last)
}

// watch runs a pipeline and says from time to time how it goes, if it is asked to.
func (f *sinkFlags) watch(ctx context.Context, p *pipeline.Pipeline, source *timedSource, say *json.Encoder,
	now func() sinkSaid) (result pipeline.Result, err error) {
	if f.every == 0 {
		return p.Run(ctx)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		result, err = p.Run(ctx)
	}()
	tick := time.NewTicker(f.every) // a time series
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return result, err
		case <-tick.C:
			if !source.begun.Load() {
				continue
			}
			s := now()
			s.MeanMS, s.P99MS = source.window()
			if err := say.Encode(s); err != nil {
				<-ended
				return result, err
			}
		}
	}
}

// writeTimes writes when each line was read and settled, in nanoseconds since 1970.
func (s *timedSource) writeTimes(name string) error {
	b := make([]byte, 0, 16*len(s.read))
	for i := range s.read {
		b = binary.LittleEndian.AppendUint64(b, uint64(s.read[i]))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.done[i]))
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		return fmt.Errorf("write the times: %w", err)
	}
	return nil
}
