package file_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// TestRuleDamageOfTheGroupAtACheckpointStopsTheFirstStart: the walk behind a checkpoint begins at its group. When
// nothing was appended since, there is nothing to walk, and the group is looked at all the same: else the next start
// but one would be the first to tell, after more was acknowledged.
func TestRuleDamageOfTheGroupAtACheckpointStopsTheFirstStart(t *testing.T) {
	for _, c := range []struct {
		name   string
		behind int // groups behind the checkpoint
	}{{"nothing behind it", 0}, {"a group behind it", 1}} {
		t.Run(c.name, func(t *testing.T) {
			d := faultfs.New()
			j := mustOpen(t, small(d))
			mustAppend(t, j, message(1, 100))
			at := mustAppend(t, j, message(2, 100))
			saveCheckpoint(t, j, at, "state")
			for n := range c.behind {
				mustAppend(t, j, message(3+n, 100))
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			sound := d.Clone()
			flip(t, d, firstSegment, int64(at)+20)

			again := mustOpen(t, small(d))
			defer again.Close() //nolint:errcheck // only read
			_, err := behind(t, again, at)
			damage := asDamage(t, err)
			if !strings.Contains(damage.Where, firstSegment+", offset "+strconv.FormatInt(int64(at), 10)) {
				t.Errorf("it says %v", damage)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}

			whole := mustOpen(t, small(sound))
			if n, err := behind(t, whole, at); err != nil || n != c.behind {
				t.Errorf("an undamaged log: %d groups, %v", n, err)
			}
			if err := whole.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// behind counts the groups behind a checkpoint.
func behind(t *testing.T, j journal.Journal, at journal.Position) (int, error) {
	t.Helper()
	n := 0
	for _, err := range j.Scan(t.Context(), at) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
