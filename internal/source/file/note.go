package file

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// note is what is remembered of a file from run to run.
type note struct {
	Path      string `json:"path"`   // the last one it had
	Source    string `json:"source"` // Origin.Source of its messages
	Born      int64  `json:"born"`   // nanoseconds since 1970; 0: the file system does not tell
	HeadBytes int    `json:"head_bytes"`
	Head      string `json:"head"`   // digest of the first HeadBytes
	Offset    int64  `json:"offset"` // everything below is settled
	Size      int64  `json:"size"`   // of the file when it was last looked at; 0: not known
	TailBytes int    `json:"tail_bytes"`
	Tail      string `json:"tail"` // digest of the TailBytes before Offset; 0 of them: not known
}

func parseNote(b []byte) (note, error) {
	var n note
	if err := json.Unmarshal(b, &n); err != nil {
		return n, fmt.Errorf("cannot be read: %w", err)
	}
	return n, nil
}

func (n note) bytes() []byte {
	b, err := json.Marshal(n)
	if err != nil {
		return nil // strings and integers always marshal
	}
	return b
}

// fileID is what the operating system knows a file by, for as long as it exists.
type fileID struct {
	device, inode uint64
}

// key is the note's key: two sources may read one file, each at its own pace.
func (s *Source) key(id fileID) string {
	return fmt.Sprintf("%s %x:%x", s.name, id.device, id.inode)
}

func (s *Source) parseKey(key string) (id fileID, ok bool) {
	rest, ok := strings.CutPrefix(key, s.name+" ")
	if !ok {
		return id, false
	}
	n, err := fmt.Sscanf(rest, "%x:%x", &id.device, &id.inode)
	return id, err == nil && n == 2 && s.key(id) == key
}

// wants tells whether a path is one of those to read.
func (s *Source) wants(path string) bool {
	return matches(s.config.Include, path) && !matches(s.config.Exclude, path)
}

func matches(patterns []string, path string) bool {
	for _, p := range patterns {
		// Patterns were checked by New: the only error Match has is a bad one.
		if ok, err := filepath.Match(filepath.Clean(p), filepath.Clean(path)); err == nil && ok {
			return true
		}
	}
	return false
}
