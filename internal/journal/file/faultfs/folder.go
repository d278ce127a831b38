package faultfs

import (
	"io/fs"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// TakeFolder renames the folder away: its path leads nowhere, while the files that are open go on.
func (d *Disk) TakeFolder() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gone = true
}

// SwapFolder puts another folder, with the same files, in the place of the folder.
func (d *Disk) SwapFolder() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.folder++
	for name, i := range d.names {
		d.names[name] = &inode{data: append([]byte(nil), i.data...), synced: append([]byte(nil), i.synced...),
			dirty: map[int64][][]byte{}}
	}
}

// SetReadOnly makes the file system one that is mounted for reading only, as far as Volume tells.
func (d *Disk) SetReadOnly(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readOnly = on
}

// Identify implements file.FS. What is in the way of a file's name is the folder.
func (d *Disk) Identify(name string) (file.ID, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut {
		return nil, ErrCut
	}
	missing := &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	if d.gone {
		return nil, missing
	}
	if i := d.names[name]; i != nil {
		return i, nil
	}
	for other := range d.names {
		if filepath.Dir(other) == filepath.Clean(name) {
			return d.folder, nil
		}
	}
	if len(d.names) > 0 {
		return nil, missing
	}
	return d.folder, nil
}

// Volume implements file.FS.
func (d *Disk) Volume(string) (file.Volume, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return file.Volume{Bytes: d.capacity, ReadOnly: d.readOnly}, nil
}
