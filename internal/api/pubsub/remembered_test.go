package pubsub

import "testing"

// TestWhatIsRememberedIsBounded, whatever comes and goes, and says what was put last.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	r := remembered{most: 1000}
	for n := range 10_000 {
		key := n % 50
		r.put(key, n, int64(n%90))
		if got, ok := r.get(key); !ok || got != n {
			t.Fatalf("%d was put, and it says %v, %v", n, got, ok)
		}
		if n%7 == 0 {
			r.forget(n % 11)
		}
		var sum int64
		r.all.Range(func(_, k any) bool {
			sum += k.(*kept).bytes
			return true
		})
		if sum != r.bytes.Load() || sum > r.most {
			t.Fatalf("after %d: %d bytes are remembered, %d are counted, of %d", n, sum, r.bytes.Load(), r.most)
		}
	}
	r.put("large", 1, 1001)
	if _, ok := r.get("large"); ok {
		t.Error("what is larger than all may be is remembered")
	}
}
