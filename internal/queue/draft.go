package queue

import "github.com/hikyaku/hikyaku/internal/message"

// draft is the events of a group that is not applied yet.
type draft struct {
	group []applied
	keys  []string      // of state.pending: those by which others know that they have to wait for it
	done  chan struct{} // closed when it was applied, or will not be

	// Room for the usual group: one small message.
	one     [1]applied
	onePut  put
	oneHead [64]byte
}

// add puts an event into the group and returns its index there.
func (d *draft) add(e event) int {
	d.group = append(d.group, applied{event: e})
	return len(d.group) - 1
}

// newPut is room for the event that puts m and for its head: in the draft itself, if they are its first and small.
func (d *draft) newPut(m *message.Message) (e *put, head []byte) {
	if n := headRoom(m); len(d.group) > 0 || n > len(d.oneHead) {
		return new(put), make([]byte, 0, n)
	}
	return &d.onePut, d.oneHead[:0]
}

// addNotes adds notes to a group.
func (d *draft) addNotes(notes []Note) {
	for _, n := range notes {
		d.add(notedOf(n))
		d.keys = append(d.keys, pendingNote(n.Room, n.Key))
	}
}
