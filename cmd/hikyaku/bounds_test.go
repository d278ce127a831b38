package main

import (
	"runtime/debug"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestBoundsFollowTheMemory(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	const mib = 1 << 20
	for _, c := range []struct {
		name   string
		memory int64
		limits config.Limits
		want   bounds
		tables int // of each of two journals
	}{
		{"not known", 0, config.Limits{},
			bounds{busy: 1024 * mib, store: queue.Limits{MessageBytes: 64 * mib}}, 8 * mib},
		{"little", 300 * mib, config.Limits{},
			bounds{collector: 228 * mib, busy: 150 * mib, store: queue.Limits{Memory: 100 * mib,
				MessageBytes: 64 * mib}}, 300 * mib / 128},
		{"less", 30 * mib, config.Limits{},
			bounds{collector: 15 * mib, busy: 16 * mib, store: queue.Limits{Memory: 10 * mib,
				MessageBytes: 16 * mib * 4 / 9}}, 30 * mib / 128},
		{"much", 24 << 30, config.Limits{},
			bounds{collector: 24 << 30 / 100 * 85, busy: 4 << 30, store: queue.Limits{Memory: 8 << 30,
				MessageBytes: 64 * mib}}, 32 * mib},
		{"configured", 300 * mib, config.Limits{Memory: 7 * mib, MessageBytes: 8 * mib, BusyBytes: 9 * mib},
			bounds{collector: 228 * mib, busy: 9 * mib, store: queue.Limits{Memory: 7 * mib, MessageBytes: 8 * mib}},
			300 * mib / 128},
	} {
		c.want.memory = machine.Available{Bytes: c.memory, By: "machine"}
		if c.want.collector > 0 {
			c.want.by = "machine"
		}
		if got := boundsOf(&c.limits, c.want.memory); got != c.want {
			t.Errorf("%s: the bounds are %+v, wanted %+v", c.name, got, c.want)
		}
		if c.want.collector > 0 && debug.SetMemoryLimit(-1) != c.want.collector {
			t.Errorf("%s: the collector's limit is %d, wanted %d", c.name, debug.SetMemoryLimit(-1), c.want.collector)
		}
		if got := tableBytes(c.memory, 2); got != c.tables {
			t.Errorf("%s: each of two journals may keep %d bytes of tables, wanted %d", c.name, got, c.tables)
		}
	}
}
