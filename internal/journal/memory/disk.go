// Package memory is a journal that keeps everything in the memory of the process, as the contract of package journal
// says, without a file. A Disk is what outlives an opening of it, as a folder outlives a process. What a store has to
// survive can be made to happen: a power cut, a full disk, a disk that does not answer, a flipped bit.
//
//	disk := memory.New()
//	j, err := disk.Open(memory.Options{})
package memory

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// stride is how far apart positions are: there is nothing at the numbers between.
const stride = 10

// Disk holds the log and the checkpoints. Its methods may be called from any goroutine.
type Disk struct {
	mu      sync.Mutex
	groups  []group // by position
	end     journal.Position
	synced  journal.Position // everything up to here survives a power cut,
	flushed journal.Position // and up to here the death of the process
	saved   []checkpoint     // the last two, the older one first
	loaded  bool             // Keep was called: what is released may go
	owner   *Journal         // who has it open and may append
	term    uint64           // the greatest of those with which it was opened

	news chan struct{} // closed when there is something for those who follow the log

	live, total uint64 // bytes of records that are not released; of all
}

type group struct {
	position journal.Position
	records  []kept
}

// kept is a record, and what became of it.
type kept struct {
	journal.Record
	released, damaged bool
}

// checkpoint is one that was saved.
type checkpoint struct {
	at      journal.Position
	content []byte
	damaged bool
}

// New makes an empty Disk.
func New() *Disk { return &Disk{news: make(chan struct{})} }

// tell wakes those who follow the log. The lock is held.
func (d *Disk) tell() {
	close(d.news)
	d.news = make(chan struct{})
}

// After returns what a restart finds: after a power cut only what was synced, else what was flushed too. It is a copy:
// what holds this Disk open now may go on with it.
func (d *Disk) After(powerCut bool) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.after(powerCut)
}

// CutPower is After(true) of a disk whose owner loses its power with it: from then on it is told of nothing that it is
// durable, for no restart would find that.
func (d *Disk) CutPower() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.after(true)
	if d.owner != nil {
		d.owner.depose()
	}
	return n
}

func (d *Disk) after(powerCut bool) *Disk {
	n := New()
	n.end, n.saved, n.live, n.total = d.flushed, slices.Clone(d.saved), d.live, d.total
	if powerCut {
		n.end = d.synced
	}
	for _, g := range d.groups {
		n.groups = append(n.groups, group{g.position, slices.Clone(g.records)})
	}
	n.cut(n.end)
	n.synced, n.flushed = n.end, n.end
	return n
}

// find returns the record at a, or nil when it is not there.
func (d *Disk) find(a journal.Address) *kept {
	i, there := d.search(a.Position)
	if !there || int64(a.Index) >= int64(len(d.groups[i].records)) {
		return nil
	}
	return &d.groups[i].records[a.Index]
}

func (d *Disk) search(p journal.Position) (i int, there bool) {
	return slices.BinarySearchFunc(d.groups, p, func(g group, p journal.Position) int {
		return journal.Address{Position: g.position}.Compare(journal.Address{Position: p})
	})
}

// read returns a copy of the record at a.
func (d *Disk) read(a journal.Address) (journal.Record, error) {
	k := d.find(a)
	switch {
	case k == nil || k.released:
		return journal.Record{}, journal.ErrReleased
	case k.damaged:
		return journal.Record{}, &journal.DamageError{Where: fmt.Sprintf("memory, group %d, record %d", a.Position,
			a.Index), What: "a flipped bit", Record: a}
	}
	r := k.Record
	r.Head, r.Body = bytes.Clone(r.Head), bytes.Clone(r.Body)
	return r, nil
}

// add puts a group at the end.
func (d *Disk) add(records []journal.Record) journal.Position {
	d.end += stride
	g := group{position: d.end, records: make([]kept, len(records))}
	for i, r := range records {
		r.Head, r.Body = bytes.Clone(r.Head), bytes.Clone(r.Body)
		g.records[i].Record = r
		d.live += uint64(r.Size())
		d.total += uint64(r.Size())
	}
	d.groups = append(d.groups, g)
	return d.end
}

// cut loses every group behind p.
func (d *Disk) cut(p journal.Position) {
	i, there := d.search(p)
	if there {
		i++
	}
	for _, g := range d.groups[i:] {
		d.dropped(g)
	}
	d.groups = d.groups[:i:i]
	d.end, d.synced, d.flushed = min(d.end, p), min(d.synced, p), min(d.flushed, p)
}

// dropped counts a group that is no more.
func (d *Disk) dropped(g group) {
	for i := range g.records {
		k := &g.records[i]
		d.total -= uint64(k.Size())
		if !k.released {
			d.live -= uint64(k.Size())
		}
	}
}

// release marks a lasting record.
func (d *Disk) release(k *kept) {
	if k.Life == journal.Lasting && !k.released {
		k.released = true
		d.live -= uint64(k.Size())
	}
}

// reclaim drops the groups before the older checkpoint of which nothing is needed any more.
func (d *Disk) reclaim() {
	if !d.loaded || len(d.saved) < 2 {
		return
	}
	d.groups = slices.DeleteFunc(d.groups, func(g group) bool {
		if g.position > d.saved[0].at || slices.ContainsFunc(g.records, func(k kept) bool {
			return k.Life == journal.Lasting && !k.released
		}) {
			return false
		}
		d.dropped(g)
		return true
	})
}
