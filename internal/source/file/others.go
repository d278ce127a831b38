package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// forgetOthers forgets what sources of other names noted of files that were read to their ends and are nowhere any
// more: a source that was renamed, or taken out of the configuration, does not come back to do it. What such a source
// has not delivered stays noted, so that it can say so if it does come back.
func (s *Source) forgetOthers(ctx context.Context, notes []queue.Note) {
	folders := map[string]map[fileID]bool{} // what is in them; nil: that cannot be found out
	var gone []queue.Note
	for _, n := range notes {
		id, ok := idOf(n.Key)
		if _, own := s.parseKey(n.Key); own || !ok {
			continue
		}
		left, err := parseNote(n.Value)
		if err != nil || left.Offset < left.Size {
			continue
		}
		dir := filepath.Dir(left.Path)
		there, looked := folders[dir]
		if !looked {
			there = filesIn(dir)
			folders[dir] = there
		}
		if there != nil && !there[id] && (len(there) > 0 || !elsewhere(dir, id)) {
			gone = append(gone, queue.Note{Room: room, Key: n.Key})
		}
	}
	for len(gone) > 0 {
		some := gone[:min(keepAtOnce, len(gone))]
		if err := s.memory.KeepNotes(ctx, some...); err != nil {
			s.notice("what other sources left of files that are gone could not be forgotten: %v", err)
			return
		}
		gone = gone[len(some):]
	}
}

// idOf is the file that a note is about, whichever source it is of.
func idOf(key string) (id fileID, ok bool) {
	name := key[:strings.LastIndexByte(key, ' ')+1]
	n, err := fmt.Sscanf(key[len(name):], "%x:%x", &id.device, &id.inode)
	return id, name != "" && err == nil && n == 2
}

// filesIn are the files of a folder: none of one that is not there, and nil when it cannot be read.
func filesIn(dir string) map[fileID]bool {
	there := map[fileID]bool{}
	for range findTries { // one that is renamed meanwhile may be passed over
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return there
		}
		if err != nil {
			return nil
		}
		for _, e := range entries {
			if st, err := e.Info(); err == nil && st.Mode().IsRegular() {
				if id, err := identity(st); err == nil {
					there[id] = true
				}
			}
		}
	}
	return there
}
