package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// noteWarm says why there are no cold figures.
const noteWarm = "cold starts and cold reading were not measured, because this system does not let a program evict " +
	"files from its cache"

// evictFolder makes the system forget the contents of all files in dir, so that the next reading is the disk's.
func evictFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("evict files from the system's cache: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		// A store that is at work may have given up a file by now.
		if err := evict(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

const (
	// evictTries is how often canEvict tries: now and then the system holds on to a page that was just written.
	evictTries = 10
	// evictPause is how long it waits after the first; each wait is twice the one before, a second in all.
	evictPause = time.Millisecond
)

// evicts tells whether the system forgets files when it is told to. That is found out once, so that a report has all
// its cold figures or none of them.
func (s *session) evicts() (bool, error) {
	s.cold.once.Do(func() {
		if s.cold.can, s.cold.err = canEvict(s.Temp); s.cold.err == nil && !s.cold.can {
			s.Report.Note(noteWarm)
		}
	})
	return s.cold.can, s.cold.err
}

// canEvict tries it with a file in dir.
func canEvict(dir string) (can bool, err error) {
	name := filepath.Join(dir, "evict")
	if err := os.WriteFile(name, harness.MakeBody(readPiece), 0o600); err != nil {
		return false, fmt.Errorf("find out whether files can be evicted from the system's cache: %w", err)
	}
	defer func() { err = harness.JoinCleanup(err, os.Remove(name)) }()
	for try := range evictTries {
		if err := evict(name); err != nil {
			return false, err
		}
		still, known := cached(name)
		if known && !still {
			return true, nil
		}
		if !known {
			break
		}
		time.Sleep(evictPause << try)
	}
	return false, nil
}
