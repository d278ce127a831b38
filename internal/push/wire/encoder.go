package wire

// The bounds of what an encoder remembers.
const (
	maxNames    = 64   // names; others are written out each time
	maxRemember = 1024 // bytes of a value; longer ones are written out each time
	valuesOf    = 4    // values of one name
)

// An Encoder writes the field blocks of the requests of one connection, in the order in which they are sent. It never
// uses Huffman coding: the bytes it saves cost both ends more time than the line.
type Encoder struct {
	max, size      uint32 // of the table, in HPACK's bytes
	lowest         uint32 // the least max since the last block
	changed        bool   // the far end is to be told at the start of the next block
	added, evicted uint64 // entries are numbered from 1; those over evicted live
	sizes          [DefaultTableSize/entryOverhead + 1]uint32

	byName map[string]*known
	seat   []*known // by the place in the block: requests that are alike have the same names in the same places
	at     int
}

const entryOverhead = 32 // what HPACK counts for an entry besides its name and value

// known is what an encoder remembers of a name.
type known struct {
	name   string
	static uint64
	entry  uint64 // the last entry of the table with this name
	values [valuesOf]value
	next   int
}

// value is a value that was seen: at its second appearance it enters the table.
type value struct {
	text  string
	entry uint64
	seen  bool
}

// NewEncoder makes an encoder with a table of the default size.
func NewEncoder() *Encoder {
	return &Encoder{max: DefaultTableSize, lowest: DefaultTableSize, byName: make(map[string]*known)}
}

// SetTableSize follows SETTINGS_HEADER_TABLE_SIZE. The encoder uses at most the default size.
func (e *Encoder) SetTableSize(n uint32) {
	n = min(n, DefaultTableSize)
	if n == e.max && !e.changed {
		return
	}
	e.max, e.changed = n, true
	e.lowest = min(e.lowest, n)
	e.evict(0)
}

// Begin starts the block of a request: what it appends are :method, :scheme, :authority and :path.
func (e *Encoder) Begin(buf []byte, method string, secure bool, authority, path string) []byte {
	if e.changed {
		if e.lowest < e.max {
			// The far end has to see the least size in between. Zero is at most that, and some decoders take a second
			// update only while their table is empty.
			buf = appendInt(buf, 0x20, 5, 0)
			e.evicted, e.size = e.added, 0
		}
		buf = appendInt(buf, 0x20, 5, uint64(e.max))
		e.changed, e.lowest = false, e.max
	}
	switch method {
	case "POST":
		buf = append(buf, 0x80|indexMethodPost)
	case "GET":
		buf = append(buf, 0x80|indexMethodGet)
	default:
		buf = appendString(append(buf, indexMethodGet), method)
	}
	if secure {
		buf = append(buf, 0x80|indexHTTPS)
	} else {
		buf = append(buf, 0x80|indexHTTP)
	}
	e.at = 0
	buf = e.Field(buf, ":authority", authority, false)
	return appendString(append(buf, indexPath), path) // never the same twice
}

// Field appends a field. A sensitive one stays out of every table, also those of intermediaries.
func (e *Encoder) Field(buf []byte, name, text string, sensitive bool) []byte {
	k := e.find(name)
	switch {
	case k == nil:
		buf = append(buf, literal(sensitive))
		return appendString(appendString(buf, name), text)
	case sensitive:
		return appendString(e.appendName(buf, 0x10, 4, k), text)
	}
	for i := range k.values {
		v := &k.values[i]
		if !v.seen || v.text != text {
			continue
		}
		if v.entry > e.evicted {
			return appendInt(buf, 0x80, 7, staticLen+1+e.added-v.entry)
		}
		need := uint32(len(name) + len(text) + entryOverhead)
		if need > e.max/2 {
			break
		}
		buf = appendString(e.appendName(buf, 0x40, 6, k), text)
		e.evict(need)
		e.added++
		e.size += need
		e.sizes[e.added%uint64(len(e.sizes))] = need
		v.entry, k.entry = e.added, e.added
		return buf
	}
	e.remember(k, text)
	return appendString(e.appendName(buf, 0, 4, k), text)
}

func literal(sensitive bool) byte {
	if sensitive {
		return 0x10
	}
	return 0
}

// find gives what is known of a name, which it enters if there is room.
func (e *Encoder) find(name string) *known {
	at := e.at
	e.at++
	if at < len(e.seat) && e.seat[at].name == name {
		return e.seat[at]
	}
	k := e.byName[name]
	if k == nil {
		if len(e.byName) >= maxNames {
			return nil
		}
		k = &known{name: name, static: staticIndex(name)}
		e.byName[name] = k
	}
	if at < len(e.seat) {
		e.seat[at] = k
	} else if at == len(e.seat) && at < maxNames {
		e.seat = append(e.seat, k)
	}
	return k
}

// remember notes a value in a place whose own value is not in the table, if there is one.
func (e *Encoder) remember(k *known, text string) {
	if len(text) > maxRemember {
		return
	}
	for range k.values {
		v := &k.values[k.next]
		k.next = (k.next + 1) % valuesOf
		if v.text == text && v.seen {
			return
		}
		if v.entry <= e.evicted {
			*v = value{text: text, seen: true}
			return
		}
	}
}

// evict makes room for need bytes, as the far end's table does.
func (e *Encoder) evict(need uint32) {
	for e.size+need > e.max && e.evicted < e.added {
		e.evicted++
		e.size -= e.sizes[e.evicted%uint64(len(e.sizes))]
	}
}

// appendName begins a literal whose name is an index if the far end has one for it.
func (e *Encoder) appendName(buf []byte, pattern byte, prefix uint, k *known) []byte {
	switch {
	case k.static != 0:
		return appendInt(buf, pattern, prefix, k.static)
	case k.entry > e.evicted:
		return appendInt(buf, pattern, prefix, staticLen+1+e.added-k.entry)
	}
	return appendString(append(buf, pattern), k.name)
}

// appendInt appends an integer with a prefix of so many bits.
func appendInt(buf []byte, pattern byte, prefix uint, n uint64) []byte {
	most := uint64(1)<<prefix - 1
	if n < most {
		return append(buf, pattern|byte(n))
	}
	buf = append(buf, pattern|byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		buf = append(buf, byte(n)|0x80)
	}
	return append(buf, byte(n))
}

func appendString(buf []byte, s string) []byte {
	return append(appendInt(buf, 0, 7, uint64(len(s))), s...)
}

// Bound is the most that a field takes in a block.
func Bound(name, text string) int { return len(name) + len(text) + 8 }

// BeginBound is the most that Begin appends.
func BeginBound(method, authority, path string) int {
	return len(method) + len(authority) + len(path) + 40
}
