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

// TestFramesOfRangeHeedNullsAndDescendingOrders.
func TestFramesOfRangeHeedNullsAndDescendingOrders(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE r (a int, u int unsigned, f double, t datetime, s text) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO r VALUES (NULL, NULL, NULL, NULL, NULL), (1, 0, 0.5, '2026-01-01', 'a'), "+
		"(2, 1, 0.25, '2026-01-01 12:00:00', 'b'), (4, 3, 3e9, '2026-01-03', 'c')")
	for over, want := range map[string]string{
		"ORDER BY a RANGE BETWEEN 1 PRECEDING AND CURRENT ROW":                                    "1 1 2 1",
		"ORDER BY a DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW":                               "1 2 1 1",
		"ORDER BY a DESC RANGE BETWEEN CURRENT ROW AND 2 FOLLOWING":                               "1 1 2 2",
		"ORDER BY a RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING":                                    "1 1 1 0",
		"ORDER BY a RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING":                                    "1 0 1 1",
		"ORDER BY a RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING":                            "1 3 3 4",
		"ORDER BY a RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING":                            "4 3 3 1",
		"ORDER BY a RANGE UNBOUNDED PRECEDING":                                                    "1 2 3 4",
		"ORDER BY a RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING":                            "4 3 2 1",
		"ORDER BY a IS NULL, a RANGE UNBOUNDED PRECEDING":                                         "4 1 2 3",
		"ORDER BY u RANGE BETWEEN 2 PRECEDING AND CURRENT ROW":                                    "1 1 2 2",
		"ORDER BY f RANGE BETWEEN 1 PRECEDING AND CURRENT ROW":                                    "1 2 1 1",
		"PARTITION BY a > 1 ORDER BY a RANGE BETWEEN 2 PRECEDING AND 0 FOLLOWING":                 "1 1 1 2",
		"ORDER BY t RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW":                       "1 1 2 1",
		"ORDER BY t DESC RANGE BETWEEN INTERVAL 12 HOUR PRECEDING AND INTERVAL 36 HOUR FOLLOWING": "1 2 2 2",
		"ORDER BY DATE(t) RANGE BETWEEN INTERVAL 12 HOUR PRECEDING AND CURRENT ROW":               "1 2 2 1",
	} {
		if got := wordsOf(t, c, "SELECT COUNT(*) OVER ("+over+") FROM r"); got != want {
			t.Errorf("%s: %s, want %s", over, got, want)
		}
	}
	if got := wordsOf(t, c, "SELECT AVG(f) OVER (PARTITION BY a) FROM r WHERE a IS NULL"); got != "" {
		t.Errorf("the average of nothing is %s", got)
	}
	for _, over := range []string{"ORDER BY s RANGE 1 PRECEDING", "ORDER BY a, u RANGE 1 PRECEDING"} {
		_, err := c.ExecContext(t.Context(), "SELECT COUNT(*) OVER ("+over+") FROM r")
		failsWith(t, err, 3587, "HY000", over)
	}
}
