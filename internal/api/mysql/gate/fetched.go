package gate

import "bytes"

// fetched is an answer with rows of a cursor, while the library writes it. As long as there are more rows MySQL says
// behind those that it sends that there is a cursor, where drivers look whether to go on. The library says so only when
// it makes the cursor.
type fetched struct {
	head   int  // bytes of the packet's header that were seen
	length int  // of the packet, as far as the header tells
	at     int  // bytes of the packet that were seen
	inside bool // the packet is another one of the same row
	end    bool // the packet is the last one
	found  bool // the status was found: nothing follows
}

const (
	endMark     = 0xfe // the first byte of the last packet: a row begins with 0, an error with 0xff
	statusAt    = 3    // where the status stands in it, in both of its forms
	cursorThere = 0x40
	lastRowSent = 0x80
)

// told is a part of the answer, with the status as MySQL has it.
func (f *fetched) told(p []byte) []byte {
	at := f.status(p)
	if at < 0 || p[at]&lastRowSent != 0 {
		return p
	}
	p = bytes.Clone(p)
	p[at] |= cursorThere
	return p
}

// status is where the answer's status stands in a part of it; negative: not there.
func (f *fetched) status(p []byte) int {
	for i := 0; i < len(p) && !f.found; {
		if f.head < 4 {
			if f.head < 3 {
				f.length |= int(p[i]) << (8 * f.head)
			}
			f.head++
			i++
			f.ended()
			continue
		}
		if f.at == 0 {
			f.end = !f.inside && p[i] == endMark
		}
		n := min(len(p)-i, f.length-f.at)
		if to := i + statusAt - f.at; f.end && f.at <= statusAt && to < i+n {
			f.found = true
			return to
		}
		i, f.at = i+n, f.at+n
		f.ended()
	}
	return -1
}

// ended begins the next packet, if this one has ended.
func (f *fetched) ended() {
	if f.head == 4 && f.at == f.length {
		*f = fetched{inside: f.length == fullPacket}
	}
}
