package function

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/process"
)

// view makes what the programs of the instance see of the machine's files: bounded temporary files, and the layers at /opt. nil: what everybody sees. What
// of it could not be is in the log, unless nothing of the kind can be on this machine: that is for Machine to say.
func (i *instance) view(program string) *process.Space {
	f := i.fn
	if f.pool.config.Plain || f.pool.starter.Mounts() != "" {
		return nil
	}
	layers := slices.Clone(f.d.Layers)
	slices.Reverse(layers)
	keep := append([]string{f.pool.config.Dir, f.deployed.Dir, program}, layers...)
	if f.interpreter != "" {
		keep = append(keep, f.interpreter)
	}
	space, err := f.pool.starter.Space(process.View{
		Temp: i.temp, TempBytes: int64(f.d.StorageMB) << 20, Opt: layers, Keep: keep, Together: len(i.extensionFiles()) > 0,
	})
	if err != nil {
		i.note("VIEW\t" + err.Error())
	}
	if space != nil {
		i.mu.Lock()
		i.seen = space.Seen
		i.mu.Unlock()
	}
	return space
}

// counts says what else counts as memory.
func (i *instance) counts() string {
	if i.seen.Temp {
		return ", among which its temporary files are"
	}
	return ""
}

// weighEvery is how often the temporary files of an instance are weighed at most that nothing bounds, and mostFiles how many of them are looked at.
const (
	weighEvery = time.Second
	mostFiles  = 100_000
)

// overfull tells whether the instance has more temporary files than it may. It looks only where nothing bounds them, and now and then.
func (i *instance) overfull() bool {
	if i.seen.Temp {
		return false
	}
	now := int64(i.fn.pool.now())
	if last := i.weighed.Load(); last != 0 && now-last < int64(weighEvery) {
		return false
	}
	i.weighed.Store(now)
	limit := int64(i.fn.d.StorageMB) << 20
	sum, files := int64(0), 0
	_ = filepath.WalkDir(i.temp, func(_ string, e fs.DirEntry, err error) error { // what cannot be read is not counted
		if files++; files > mostFiles || sum > limit {
			return fs.SkipAll
		}
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	i.stored.Store(sum)
	return sum > limit || files > mostFiles
}

// retire stops an instance that serves nobody, because of its temporary files.
func (i *instance) retire() {
	i.mu.Lock()
	if i.dead || i.call != nil {
		i.mu.Unlock()
		return
	}
	i.dead = true
	i.mu.Unlock()
	i.note(fmt.Sprintf("VIEW\tThe instance is stopped: function %s has more than its %d MB of temporary files (storage). Remove them, or give it more.", i.fn.d.Name, i.fn.d.StorageMB))
	i.fn.leave(i)
	i.stop(shutdownFailure)
}
