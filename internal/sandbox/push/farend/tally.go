package farend

// tally counts appearances of 64-bit hashes: nine bytes a place, so that a million messages take some 18 MB and no
// garbage. Counts stop at 255. The zero tally is empty.
type tally struct {
	keys    []uint64 // 0: free
	counts  []uint8
	n       int // distinct keys
	doubles int // appearances beyond a key's first
}

const tallyStart = 1 << 10

// add counts one appearance.
func (t *tally) add(key uint64) {
	if key == 0 {
		key = 1
	}
	if t.n*3 >= len(t.keys)*2 {
		t.grow()
	}
	i := t.place(key)
	if t.keys[i] == 0 {
		t.keys[i] = key
		t.n++
	} else {
		t.doubles++
	}
	if t.counts[i] < 255 {
		t.counts[i]++
	}
}

// count is how often a key appeared.
func (t *tally) count(key uint64) int {
	if len(t.keys) == 0 {
		return 0
	}
	if key == 0 {
		key = 1
	}
	return int(t.counts[t.place(key)])
}

// place is where a key stands, or would.
func (t *tally) place(key uint64) uint64 {
	mask := uint64(len(t.keys) - 1)
	i := key & mask
	for t.keys[i] != 0 && t.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

func (t *tally) grow() {
	old := *t
	size := max(tallyStart, 2*len(old.keys))
	t.keys, t.counts = make([]uint64, size), make([]uint8, size)
	for i, k := range old.keys {
		if k != 0 {
			j := t.place(k)
			t.keys[j], t.counts[j] = k, old.counts[i]
		}
	}
}
