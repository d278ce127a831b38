package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Generation is one backup.
type Generation struct {
	Number   int       `json:"generation"`
	Made     time.Time `json:"made"`     // what was acknowledged before is in it
	From     string    `json:"data_dir"` // of which it is
	Journals []Journal `json:"journals"` // by shard
	Files    []File    `json:"files"`
}

// Journal is one that a generation has.
type Journal struct {
	Dir string `json:"dir"` // in the data_dir
	Log string `json:"log"` // the number of the log
}

// File is a file of a data_dir.
type File struct {
	Path     string `json:"path"`  // in the data_dir, with slashes
	Bytes    int64  `json:"bytes"` // that are kept
	Size     int64  `json:"size"`  // behind Bytes it has zeros
	SHA256   string `json:"sha256"`
	Identity string `json:"identity,omitempty"` // tells it from others that had its path
}

// Bytes is what all files of a generation have.
func (g *Generation) Bytes() (n int64) {
	for i := range g.Files {
		n += g.Files[i].Bytes
	}
	return n
}

// listed is a generation's file.
type listed struct {
	SHA256 string          `json:"sha256"` // of what follows, byte by byte
	List   json.RawMessage `json:"list"`
}

// ListError is a list of a generation that is not what was written.
type ListError struct {
	Path string
	Why  error
}

func (e *ListError) Error() string {
	return fmt.Sprintf("%s is not the list that was written: %v", e.Path, e.Why)
}
func (e *ListError) Unwrap() error { return e.Why }

var errSum = errors.New("its checksum is another")

func (g *Generation) encode() ([]byte, error) {
	list, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	return json.Marshal(listed{sumOf(list), list})
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// readGeneration reads and checks the list of a generation.
func readGeneration(path string, number int) (*Generation, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var l listed
	g := &Generation{}
	err = json.Unmarshal(text, &l)
	if err == nil && sumOf(l.List) != l.SHA256 {
		err = errSum
	}
	if err == nil {
		err = json.Unmarshal(l.List, g)
	}
	if err == nil && g.Number != number {
		err = fmt.Errorf("it is of generation %d", g.Number)
	}
	for i := range g.Files {
		f := &g.Files[i]
		if err == nil && (!filepath.IsLocal(filepath.FromSlash(f.Path)) || len(f.SHA256) != 2*sha256.Size ||
			f.Bytes < 0 || f.Bytes > f.Size) {
			err = fmt.Errorf("it has a file %q of %d of %d bytes with the checksum %q", f.Path, f.Bytes, f.Size,
				f.SHA256)
		}
	}
	if err != nil {
		return nil, &ListError{path, err}
	}
	return g, nil
}
