package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// noteWarm says why there are no cold figures.
const noteWarm = "cold starts and cold reading were not measured, because this system does not let a program evict files from its cache"

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

// evictTries is how often canEvict tries: now and then the system holds on to a page that was just written.
const evictTries = 5

// canEvict tries it with a file in dir.
func canEvict(dir string) (can bool, err error) {
	name := filepath.Join(dir, "evict")
	if err := os.WriteFile(name, makeBody(readPiece), 0o600); err != nil {
		return false, fmt.Errorf("find out whether files can be evicted from the system's cache: %w", err)
	}
	defer func() { err = joinCleanup(err, os.Remove(name)) }()
	for range evictTries {
		if err := evict(name); err != nil {
			return false, err
		}
		if still, known := cached(name); known && !still {
			return true, nil
		}
	}
	return false, nil
}
