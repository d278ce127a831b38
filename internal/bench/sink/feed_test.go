package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFeedsShareTheRowsOut(t *testing.T) {
	schema := doubleSchema(3)
	var rows []int
	for i := range 3 {
		var b bytes.Buffer
		feed := &lineFeed{schema: schema, first: i, step: 3, n: (1000 + 2 - i) / 3}
		if err := feed.write(t.Context(), &b, time.Now(), nil); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			first, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ",")
			row, err := strconv.Atoi(first)
			if err != nil || strings.Count(rest, ",") != 1 {
				t.Fatalf("line %q: %v", line, err)
			}
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	for i, row := range rows {
		if row != i {
			t.Fatalf("row %d stands where %d should", row, i)
		}
	}
	if len(rows) != 1000 {
		t.Errorf("%d rows, want 1000", len(rows))
	}
}

func TestLinesThatWereMadeBeforeAreTheSame(t *testing.T) {
	feed := &lineFeed{schema: doubleSchema(3), first: 1, step: 2, n: 1000}
	var made, ready bytes.Buffer
	if err := feed.write(t.Context(), &made, time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	feed.prepare()
	if err := feed.write(t.Context(), &ready, time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	if made.Len() == 0 || !bytes.Equal(made.Bytes(), ready.Bytes()) {
		t.Errorf("%d bytes of lines were made on the way and %d before, or they differ", made.Len(), ready.Len())
	}
}

func TestAFeedKeepsToItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var b bytes.Buffer
		feed := &lineFeed{schema: doubleSchema(1), step: 1, n: 200, perSecond: 100}
		var at []time.Duration
		if err := feed.write(t.Context(), &b, start, func(int) { at = append(at, time.Since(start)) }); err != nil {
			t.Fatal(err)
		}
		if len(at) != 200 || at[0] != 0 || at[199] != 1990*time.Millisecond {
			t.Errorf("%d writes, the first after %v and the last after %v", len(at), at[0], at[len(at)-1])
		}
	})
}

// A line that had to wait is written as soon as there is room, together with those that became due meanwhile: none is
// left out.
func TestAFeedCatchesUp(t *testing.T) {
	var b bytes.Buffer
	writes := 0
	feed := &lineFeed{schema: doubleSchema(1), step: 1, n: 50, perSecond: 1000}
	if err := feed.write(t.Context(), &b, time.Now().Add(-time.Minute), func(int) { writes++ }); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\n"); lines != 50 || writes != 1 {
		t.Errorf("%d lines in %d writes", lines, writes)
	}
}

func TestAFeedEndsWithItsContextAndItsReader(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	feed := &lineFeed{schema: doubleSchema(1), step: 1, n: 2, perSecond: 1}
	if err := feed.write(ctx, new(bytes.Buffer), time.Now().Add(time.Hour), nil); !errors.Is(err, stop) {
		t.Errorf("cancelled: %v", err)
	}
	if err := feed.write(t.Context(), goneReader{stop}, time.Now().Add(-time.Hour), nil); !errors.Is(err, stop) {
		t.Errorf("the reader is gone: %v", err)
	}
}

type goneReader struct{ err error }

func (r goneReader) Write([]byte) (int, error) { return 0, r.err }

func TestLinesFitTheirTable(t *testing.T) {
	for _, s := range []*sinkSchema{doubleSchema(1), doubleSchema(10), doubleSchema(1000), mixedSchema(10),
		mixedSchema(100)} {
		for _, i := range []int{0, 1, tailCount - 1, tailCount, 123_456_789} {
			fields := strings.Split(string(s.appendLine(nil, i)), ",")
			if len(fields) != len(s.columns) || fields[0] != strconv.Itoa(i) {
				t.Fatalf("%s, row %d: %d fields, the first %q", s.table, i, len(fields), fields[0])
			}
			for j, c := range s.columns {
				if err := fits(c.kind, fields[j]); err != nil {
					t.Errorf("%s: %s, %q: %v", s.table, c.name, fields[j], err)
				}
			}
		}
		for _, to := range sinkTargets() {
			text := s.create(to)
			if !strings.HasPrefix(text, "CREATE TABLE "+s.table+" (value1 ") ||
				strings.Count(text, "value") != len(s.columns) {
				t.Errorf("%s: %s", to, text)
			}
			keyed := *s
			if text := keyed.withID().create(to); !strings.HasSuffix(text, ", id VARCHAR(36) NOT NULL PRIMARY KEY)") ||
				keyed.table == s.table {
				t.Errorf("%s: %s", to, text)
			}
		}
	}
}

func fits(k columnKind, text string) (err error) {
	switch k {
	case bigints, integers:
		_, err = strconv.ParseInt(text, 10, 32)
	case dates:
		_, err = time.Parse(time.DateOnly, text)
	case times:
		_, err = time.Parse("2006-01-02 15:04:05.000000", text)
	case texts:
		if len(text) == 0 || len(text) > 100 {
			err = fmt.Errorf("%d bytes", len(text))
		}
	default:
		_, err = strconv.ParseFloat(text, 64)
	}
	return err
}
