package dead

import (
	"testing"
)

func FuzzReadEntries(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("short"))
	f.Add(appendEntry(appendEntry(nil, entry{1, 2}), entry{1<<64 - 1, 1<<32 - 1}))
	f.Fuzz(func(t *testing.T, value []byte) {
		var again []byte
		err := readEntries(value, func(e entry) { again = appendEntry(again, e) })
		if (err == nil) != (len(value)%entrySize == 0) || err == nil && string(again) != string(value) {
			t.Errorf("%x became %x, %v", value, again, err)
		}
	})
}
