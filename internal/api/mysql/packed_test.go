package mysql

import (
	"runtime"
	"testing"
)

// TestCompressingManyValuesTakesLittle compresses a thousand short values, and holds what is made of one to be what it
// was made of.
func TestCompressingManyValuesTakesLittle(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var n, same int
	err := c.QueryRowContext(t.Context(), "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r "+
		"WHERE n < 1000) SELECT COUNT(*), SUM(UNCOMPRESS(COMPRESS(n)) = n) FROM r").Scan(&n, &same)
	runtime.ReadMemStats(&after)
	if err != nil || n != 1000 || same != 1000 {
		t.Fatalf("%d of %d are the same: %v", same, n, err)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 200<<20 {
		t.Errorf("%d MiB were allocated", made>>20)
	}
}
