package mysql

import (
	"math/bits"
	"strings"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
)

// TestAValueForAFrameTakesFewSteps, however many rows the frame has, and has them all in their order.
func TestAValueForAFrameTakesFewSteps(t *testing.T) {
	for rows := range 40 {
		joins, all := 0, ""
		w := &overFrames[string]{
			leaf: func(_ *gms.Context, row gms.Row) (string, int64, error) { return row[0].(string), 0, nil },
			join: func(_ *gms.Context, a, b string) (string, error) {
				joins++
				return a + b, nil
			},
			result: func(s string) any { return s },
		}
		const from = 3 // partitions before it
		buffer := make(gms.WindowBuffer, from)
		for i := range rows {
			letter := string(rune('A' + i))
			buffer, all = append(buffer, gms.Row{letter}), all+letter
		}
		if err := w.StartPartition(nil, gms.WindowInterval{Start: from, End: from + rows}, buffer); err != nil {
			t.Fatal(err)
		}
		for first := range rows + 1 {
			for end := first; end <= rows; end++ {
				joins = 0
				got, err := w.Compute(nil, gms.WindowInterval{Start: from + first, End: from + end}, buffer)
				if err != nil || got != all[first:end] {
					t.Errorf("of %d rows, %d to %d: %q, %v", rows, first, end, got, err)
				}
				if most := 2*bits.Len(uint(end-first)) + 1; joins > most {
					t.Errorf("of %d rows, %d to %d: %d steps, and %d are enough", rows, first, end, joins, most)
				}
			}
		}
	}
}

// TestVariancesOfLargeNumbersKeepTheirDigits: a difference of sums of squares would have none left.
func TestVariancesOfLargeNumbersKeepTheirDigits(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE m (a bigint) ENGINE=QUEUE")
	values := make([]string, 100)
	for i := range values {
		values[i] = []string{"(9000000000000000)", "(9000000000000002)"}[i%2]
	}
	exec(t, c, "INSERT INTO m VALUES "+strings.Join(values, ", "))
	for statement, want := range map[string]string{
		"SELECT VAR_POP(a) OVER () FROM m LIMIT 1": "1",
		"SELECT VAR_POP(a) FROM m":                 "1",
		"SELECT STD(a) OVER () FROM m LIMIT 1":     "1",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}
