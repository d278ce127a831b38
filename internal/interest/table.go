package interest

import "maps"

// table is a map that gives memory back when most of what it held is gone, which a map does not. The zero table is
// empty.
type table[V any] struct {
	entries map[string]V
	most    int // how many entries it had room for at least
}

func (t *table[V]) size() int { return len(t.entries) }

func (t *table[V]) get(key string) (v V, ok bool) {
	v, ok = t.entries[key]
	return v, ok
}

// find is get for a key that was only just put together. It does not allocate.
func (t *table[V]) find(key []byte) (v V, ok bool) {
	v, ok = t.entries[string(key)]
	return v, ok
}

func (t *table[V]) put(key string, v V) {
	if t.entries == nil {
		t.entries = map[string]V{}
	}
	t.entries[key] = v
	t.most = max(t.most, len(t.entries))
}

func (t *table[V]) drop(key string) {
	delete(t.entries, key)
	const small = 64
	switch n := len(t.entries); {
	case n == 0:
		*t = table[V]{}
	case t.most > small && n <= t.most/4:
		fresh := make(map[string]V, n)
		maps.Copy(fresh, t.entries)
		*t = table[V]{fresh, n}
	}
}
