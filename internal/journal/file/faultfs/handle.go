package faultfs

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// handle is an open file.
type handle struct {
	d        *Disk
	i        *inode
	name     string // as it was opened, or since
	readOnly bool
	closed   bool
}

// at is the name that leads to the file now; d.mu is held.
func (h *handle) at() string {
	if h.d.names[h.name] != h.i {
		for name, i := range h.d.names {
			if i == h.i {
				h.name = name
			}
		}
	}
	return h.name
}

func (h *handle) ReadAt(b []byte, offset int64) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if h.d.cut {
		return 0, ErrCut
	}
	if offset >= int64(len(h.i.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.i.data[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(b []byte, offset int64) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if h.readOnly {
		return 0, &fs.PathError{Op: "write", Path: h.name, Err: fs.ErrPermission}
	}
	err := h.d.change(Op{Kind: "write", Name: h.at(), Offset: offset, Bytes: len(b)})
	if err == nil {
		err = h.d.grow(h.i, offset+int64(len(b)))
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		half := b[:min(int64(len(b)/2), max(0, int64(len(h.i.data))-offset))]
		h.i.write(half, offset)
		return len(half), err
	case errors.Is(err, errCutting):
		// The write was on its way: any of its sectors may have got there.
		b = b[:min(int64(len(b)), max(0, int64(len(h.i.data))-offset))]
		h.i.write(b, offset)
		return 0, err
	case err != nil:
		return 0, err
	}
	h.i.write(b, offset)
	return len(b), nil
}

func (i *inode) write(b []byte, offset int64) {
	copy(i.data[min(offset, int64(len(i.data))):], b)
	for at := offset / sector; at*sector < min(offset+int64(len(b)), int64(len(i.data))); at++ {
		list := append(i.dirty[at], slices.Clone(i.data[at*sector:min((at+1)*sector, int64(len(i.data)))]))
		i.dirty[at] = list[max(0, len(list)-versions):]
	}
}

func (h *handle) Datasync() error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err := h.d.change(Op{Kind: "sync", Name: h.at()}); err != nil {
		return err
	}
	h.i.sync()
	return nil
}

func (i *inode) sync() {
	if len(i.synced) > len(i.data) {
		i.synced = i.synced[:len(i.data)]
	}
	i.synced = append(i.synced, i.data[len(i.synced):]...)
	for at := range i.dirty {
		if from := at * sector; from < int64(len(i.data)) {
			copy(i.synced[from:min(from+sector, int64(len(i.data)))], i.data[from:])
		}
	}
	clear(i.dirty)
}

func (h *handle) Truncate(size int64) error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err := h.d.change(Op{Kind: "truncate", Name: h.at()}); err != nil {
		return err
	}
	if size <= int64(len(h.i.data)) {
		h.i.data = slices.Clip(h.i.data[:size])
		return nil
	}
	return h.d.grow(h.i, size)
}

func (h *handle) Preallocate(size int64) error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err := h.d.change(Op{Kind: "allocate", Name: h.at(), Bytes: int(size)}); err != nil {
		return err
	}
	return h.d.grow(h.i, size)
}

func (h *handle) Size() (int64, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if h.d.cut {
		return 0, ErrCut
	}
	return int64(len(h.i.data)), nil
}

func (h *handle) Identify() (file.ID, error) { return h.i, nil }

func (h *handle) Close() error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.d.opened--
	}
	return nil
}
