package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	syncs       = 200                     // are timed at most
	syncTime    = 1500 * time.Millisecond // for all of them
	syncBytes   = 4096                    // written before each
	impossible  = 8 * time.Microsecond    // no medium takes a write and says that it is kept in less
	improbable  = 100 * time.Microsecond  // one with a volatile cache, whose content has to be written first
	improbable2 = 2 * time.Millisecond    // one that turns
	slow        = 50 * time.Millisecond
)

// Medium is what is known of where a folder lies.
type Medium struct {
	Mount    string // the folder that the file system is mounted at
	Type     string // ext4
	Source   string // /dev/sda1
	Options  []string
	Volatile *bool // the device says that it has a cache that a power cut empties; nil: it says nothing
}

// Existing is the folder itself, or the nearest one above it that there is.
func Existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() {
			return filepath.EvalSymlinks(dir)
		}
		above := filepath.Dir(dir)
		if above == dir || err != nil && !os.IsNotExist(err) {
			return "", cmp.Or(err, error(&os.PathError{Op: "open", Path: dir, Err: os.ErrNotExist}))
		}
		dir = above
	}
}

// Apart are those of the folders that are on file systems of their own, the first one of each; each need not be there
// yet.
func Apart(dirs []string) (apart []string) {
	seen := map[string]bool{}
	for _, dir := range dirs {
		at, err := Existing(dir)
		if m, known := medium(at); err == nil && known {
			at = m.Mount
		} else if err == nil && len(apart) > 0 {
			continue // nothing tells
		}
		if !seen[at] {
			seen[at], apart = true, append(apart, dir)
		}
	}
	return apart
}

// Disk tells whether syncs in a folder, which need not be there yet, mean something. durable says that they have to.
func Disk(ctx context.Context, dir string, durable bool) (found []Finding) {
	at, err := Existing(dir)
	if err != nil {
		return []Finding{{"disk", Bad, err.Error(), "nothing can be kept there",
			"make the folder, or set another data_dir"}}
	}
	m, known := medium(at)
	if known {
		found = append(found, m.findings(durable)...)
	}
	if f, ok := preloaded(os.Getenv("LD_PRELOAD")); ok {
		found = append(found, f)
	}
	took, err := timeSyncs(ctx, at)
	if err != nil {
		return append(found, Finding{"disk", Bad, "write and sync in " + at + ": " + err.Error(), "no message can " +
			"be kept",
			"run this as the account that hikyaku runs as; look at the permissions, and whether the disk is full or " +
				"read-only"})
	}
	return append(found, m.timing(median(took), durable))
}

// scratch opens a file that is gone when close has been called, or when this process ends, where the system can do
// that.
func scratch(dir string) (f *os.File, close func() error, err error) {
	if f, err := nameless(dir); err == nil {
		return f, f.Close, nil
	}
	if f, err = os.CreateTemp(dir, ".hikyaku-doctor-*"); err != nil {
		return nil, nil, err
	}
	if os.Remove(f.Name()) == nil { // not while it is open, on Windows
		return f, f.Close, nil
	}
	return f, func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }, nil
}

// timeSyncs writes to a file and syncs, again and again.
func timeSyncs(ctx context.Context, dir string) (took []time.Duration, err error) {
	f, done, err := scratch(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	block := make([]byte, syncBytes)
	// Of a place that was written before the disk has to keep the content alone, as of the log's.
	if _, err := f.Write(block); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	begun := time.Now()
	for i := 0; i < syncs && (i < 5 || time.Since(begun) < syncTime) && ctx.Err() == nil; i++ {
		block[0] = byte(i)
		start := time.Now()
		if _, err := f.WriteAt(block, 0); err != nil {
			return nil, err
		}
		if err := syncData(f); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took, ctx.Err()
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// timing judges how long a write with its sync takes.
func (m *Medium) timing(each time.Duration, durable bool) Finding {
	what := fmt.Sprintf("a write of %d bytes and its sync take %v", syncBytes, each.Round(100*time.Nanosecond))
	level := Bad
	if !durable {
		level = OK
	}
	const keeps = "an acknowledged message may be gone after a power cut"
	switch cache := m.Volatile; {
	case each < impossible:
		return Finding{"disk", level, what + ": no medium is as fast", "something answers syncs without carrying " +
			"them " +
			"out; " + keeps, "look at the file system, and at what this machine runs in (a virtual disk with its " +
			"cache " +
			"set to unsafe, a container that suppresses syncs)"}
	case durable && cache != nil && *cache && each < improbable:
		return Finding{"disk", Warn, what + ", and the device says that it has a volatile cache",
			"a medium that empties such a cache is slower: if something between leaves that out, " + keeps,
			"look at the cache of the virtual disk, or at the drive: one that is protected from power cuts may be " +
				"as fast"}
	case durable && each > slow:
		return Finding{"disk", Warn, what, "each durable put waits that long; those of one moment share one sync",
			"look at what else writes to this disk, or take a faster one"}
	}
	return Ok("disk", "%s", what)
}
