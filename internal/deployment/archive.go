package deployment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// archives is the folder of archives, each of which is named by its checksum.
func (r *Registry) archives() string { return filepath.Join(r.config.Dir, "code") }

func (r *Registry) archive(sum string) string { return archiveIn(r.config.Dir, sum) }

func archiveIn(dir, sum string) string { return filepath.Join(dir, "code", sum+".zip") }

// Archive is the file of a version's code; "" for a folder.
func (r *Registry) Archive(v Version) string {
	if v.SHA256 == "" {
		return ""
	}
	return r.archive(v.SHA256)
}

// place makes code a version's. An archive is on the disk when it returns.
func (r *Registry) place(c Code, v *Version) error {
	switch {
	case c.Folder != "" && c.Zip != nil, c.Folder == "" && len(c.Zip) == 0:
		return invalid("there has to be code: an archive or a folder")
	case c.Folder != "":
		folder, err := filepath.Abs(c.Folder)
		if err != nil {
			return invalid("%s: %v", c.Folder, err)
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return invalid("%s is no folder with code", folder)
		}
		v.Folder, v.SHA256, v.Size = folder, "", 0
		return nil
	}
	sum := sha256.Sum256(c.Zip)
	v.Folder, v.SHA256, v.Size = "", hex.EncodeToString(sum[:]), int64(len(c.Zip))
	r.placing.Lock()
	defer r.placing.Unlock()
	path := r.archive(v.SHA256)
	if what, err := checksumOf(context.Background(), path, v.SHA256); err != nil || what != "" {
		if err := os.MkdirAll(r.archives(), 0o700); err != nil {
			return fmt.Errorf("make a folder for code: %w", err)
		}
		if err := write(path, bytes.NewReader(c.Zip)); err != nil {
			return err
		}
	}
	r.mark(v.SHA256, "")
	return nil
}

// write makes a file whole and durable, or not at all.
func write(path string, data io.Reader) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return fmt.Errorf("keep code: %w", err)
	}
	_, err = io.Copy(f, data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep code: %w", err), os.Remove(f.Name()))
	}
	if err := durable.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("keep code: %w", err)
	}
	return nil
}

// drop removes archives that nothing names any more. The caller holds r.change.
func (r *Registry) drop(sums ...string) {
	used := r.used()
	used[""] = true
	for _, sum := range sums {
		if used[sum] {
			continue
		}
		r.giving.Lock() // the pool may be unpacking it
		if err := os.Remove(r.archive(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.config.Report(fmt.Errorf("remove code that is not used any more: %w", err))
		}
		r.giving.Unlock()
		r.mark(sum, "")
	}
}

// unkept drops archives of what was refused with err. Where nobody knows whether it was kept, they stay: the next Open
// sees what names them.
func (r *Registry) unkept(err error, sums ...string) {
	if !errors.Is(err, queue.ErrUnavailable) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded) {
		r.drop(sums...)
	}
}

// used are the checksums of the archives that functions and layers name.
func (r *Registry) used() map[string]bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	used := map[string]bool{}
	for _, f := range r.all {
		for _, v := range append(f.Published(), f.Latest) {
			for _, sum := range v.archivesOf() {
				used[sum] = true
			}
		}
	}
	for _, l := range r.layers {
		for _, v := range l.versions {
			used[v.SHA256] = true
		}
	}
	return used
}

// sweep removes archives that no function names. Nothing may be changed meanwhile.
func (r *Registry) sweep() error {
	used := r.used()
	entries, err := os.ReadDir(r.archives())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at kept code: %w", err)
	}
	for _, e := range entries {
		if sum, ok := strings.CutSuffix(e.Name(), ".zip"); ok && used[sum] {
			continue
		}
		if err := os.Remove(filepath.Join(r.archives(), e.Name())); err != nil {
			return fmt.Errorf("remove code that is not used any more: %w", err)
		}
	}
	return nil
}
