package function

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// counts says what else counts as memory.
func (i *instance) counts() string {
	if i.apart() {
		return ", among which its temporary files are"
	}
	return ""
}

// weighEvery is how often the temporary files of an instance are weighed at most that nothing bounds, and mostFiles how
// many of them are looked at.
const (
	weighEvery = time.Second
	mostFiles  = 100_000
)

// overfull tells whether the instance has more temporary files than it may. It looks only where nothing bounds them,
// and now and then.
func (i *instance) overfull() bool {
	if i.apart() {
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
	i.note(fmt.Sprintf("STORAGE\tThe instance is stopped: function %s has more than its %d MB of temporary files "+
		"(storage). Remove them, or give it more.", i.fn.d.Name, i.fn.d.StorageMB))
	i.fn.leave(i)
	i.stop(shutdownFailure)
}
