package dead

import (
	"testing"
)

func FuzzReadEntries(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("short"))
	f.Add(appendEntry(appendEntry(nil, entry{1, 2, 3}), entry{1<<64 - 1, 1<<32 - 1, 1<<16 - 1}))
	f.Fuzz(func(t *testing.T, value []byte) {
		var again []byte
		err := readEntries(value, func(e entry) { again = appendEntry(again, e) })
		if (err == nil) != (len(value)%entrySize == 0) || err == nil && string(again) != string(value) {
			t.Errorf("%x became %x, %v", value, again, err)
		}
		n := 0
		err = readOldEntries(value, func(e entry) {
			n++
			if e.at == 0 || e.what != 0 {
				t.Errorf("%+v in a page of the first form", e)
			}
		})
		if (err == nil) != (len(value)%oldEntrySize == 0) || err == nil && n != len(value)/oldEntrySize {
			t.Errorf("%d entries of %x, %v", n, value, err)
		}
	})
}

func FuzzReadNotes(f *testing.F) {
	f.Add("w0001", []byte(`{"app":"news","of":"sandbox com.example.news","reason":"Unregistered","status":410}`))
	f.Add("w0000", []byte(`{}`))
	f.Add("p0000000000000001", []byte{})
	f.Add("000000000000002a", []byte{})
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		if number, c, err := readCause(key, value); err == nil {
			n, err := causeNote("room", number, c)
			if err != nil {
				t.Fatal(err)
			}
			if again, same, err := readCause(n.Key, n.Value); err != nil || again != number || same != c {
				t.Errorf("cause %d %+v became %d %+v, %v", number, c, again, same, err)
			}
		}
		if number, old, err := pageNumber(key); err == nil && !old {
			if again, _, err := pageNumber(pageKey(number)); err != nil || again != number {
				t.Errorf("page %q became %x, %v", key, again, err)
			}
		}
	})
}
