package faultfs

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// AfterPowerCut returns the disk as it may be found after the power failed now. This disk is cut and stays so.
func (d *Disk) AfterPowerCut(random *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut = true
	// Three kinds of luck: almost all, almost nothing, or anything was written.
	keep := []float64{0.05, 0.5, 0.95}[random.IntN(3)]
	names := maps.Clone(d.synced)
	for _, c := range d.pending {
		if random.Float64() < keep {
			c.apply(names)
		}
	}
	n := New()
	n.capacity = d.capacity
	survivors := map[*inode]*inode{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		i := names[name]
		if survivors[i] == nil {
			survivors[i] = i.afterPowerCut(random, keep)
		}
		n.names[name] = survivors[i]
	}
	n.synced = maps.Clone(n.names)
	return n
}

func (i *inode) afterPowerCut(random *rand.Rand, keep float64) *inode {
	data := slices.Clone(i.synced)
	if random.Float64() < keep { // the new size
		data = slices.Clone(data[:min(len(data), len(i.data))])
		data = append(data, make([]byte, len(i.data)-len(data))...)
	}
	for _, at := range slices.Sorted(maps.Keys(i.dirty)) {
		from := at * sector
		if from >= int64(len(data)) || random.Float64() >= keep {
			continue
		}
		list := i.dirty[at]
		version := list[len(list)-1] // mostly the last
		if random.IntN(4) == 0 {
			version = list[random.IntN(len(list))]
		}
		old := data[from:min(from+sector, int64(len(data)))]
		version = version[:min(len(version), len(old))]
		switch torn := random.IntN(len(version) + 1); random.IntN(12) {
		case 0:
			copy(old, version[:torn])
		case 1:
			copy(old[torn:], version[torn:])
		default:
			copy(old, version)
		}
	}
	return &inode{data: data, synced: slices.Clone(data), dirty: map[int64][][]byte{}}
}

// AfterKill returns the disk as it is found after the process died: everything written is there.
func (d *Disk) AfterKill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut = true
	n := New()
	n.capacity = d.capacity
	n.names, n.synced, n.pending = d.names, d.synced, d.pending
	return n
}

// Clone returns a copy of the disk whose power was never cut, everything on it synced.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := New()
	n.capacity = d.capacity
	for name, i := range d.names {
		n.names[name] = &inode{data: slices.Clone(i.data), synced: slices.Clone(i.data), dirty: map[int64][][]byte{}}
	}
	n.synced = maps.Clone(n.names)
	return n
}

// Names lists the files, sorted.
func (d *Disk) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names))
}

// Bytes returns a copy of a file's content, nil when there is none of that name.
func (d *Disk) Bytes(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := d.names[name]; i != nil {
		return slices.Clone(i.data)
	}
	return nil
}

// Set alters a byte of a file behind everybody's back, durably.
func (d *Disk) Set(name string, offset int64, b byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.names[name]
	if i == nil || offset < 0 || offset >= int64(len(i.data)) {
		return fmt.Errorf("set byte %d of %s: there is none", offset, name)
	}
	i.data[offset] = b
	if offset < int64(len(i.synced)) {
		i.synced[offset] = b
	}
	return nil
}

// Flip flips a bit of a byte of a file behind everybody's back, durably.
func (d *Disk) Flip(name string, offset int64, bit uint) error {
	d.mu.Lock()
	i := d.names[name]
	var b byte
	if i != nil && offset >= 0 && offset < int64(len(i.data)) {
		b = i.data[offset]
	}
	d.mu.Unlock()
	return d.Set(name, offset, b^1<<(bit%8))
}

// Put replaces the content of a file behind everybody's back, durably; nil takes the file away.
func (d *Disk) Put(name string, content []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if content == nil {
		delete(d.names, name)
		delete(d.synced, name)
		return
	}
	i := &inode{data: slices.Clone(content), synced: slices.Clone(content), dirty: map[int64][][]byte{}}
	if i.data == nil {
		i.data, i.synced = []byte{}, []byte{}
	}
	d.names[name], d.synced[name] = i, i
}
