package file

const (
	outlookGroups = 16 // groups asked for ahead of a reader
	outlookLeast  = 64 // a reader of fewer records is done before it would pay
)

// outlook asks the medium ahead for groups that lie apart, when many are to be read: at a start thousands of pages of
// messages, with the messages between them. Reading them one after the other would wait for the medium each time; what
// lies close together needs no asking, since it is read in large pieces.
type outlook struct {
	next   int      // the place to look at next
	s      *segment // of the place last looked at
	end    int64    // where what will be read of that segment ends, about
	groups []int    // places of groups that were asked for and are not read yet
}

// readAhead is called before places[i] is read.
func (o *outlook) readAhead(r *reader, places []spot, i int) {
	if len(places) < outlookLeast || r.t == nil {
		return
	}
	for len(o.groups) > 0 && o.groups[0] <= i {
		o.groups = o.groups[1:]
	}
	guess := min(r.t.header.length, windowOn) // the group last read tells how long the others may be
	for o.next = max(o.next, i+1); o.next < len(places) && len(o.groups) < outlookGroups; o.next++ {
		p := &places[o.next]
		if p.s == nil || p.s == o.s && p.group < o.end+windowNear {
			if p.s != nil {
				o.end = max(o.end, p.group+guess)
			}
			continue
		}
		p.s.willNeed(p.group, min(guess, p.s.size-p.group))
		o.s, o.end = p.s, p.group+guess
		o.groups = append(o.groups, o.next)
	}
}
