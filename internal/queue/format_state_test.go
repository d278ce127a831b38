package queue

import (
	"bufio"
	"bytes"
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// TestAStateOfALaterFormatIsNoDamage reads a checkpoint and a record of versions to come: whoever meets them is told
// so, and not that bytes have changed.
func TestAStateOfALaterFormatIsNoDamage(t *testing.T) {
	state := putUint(nil, snapshotVersion+1)
	frame := append(putUint(nil, uint64(len(state))), state...)
	later := newState().restore(bufio.NewReader(bytes.NewReader(frame)), map[journal.Address]*sharedBody{})
	_, _, unknown := decodeEvent([]byte{byte(kindLast) + 1, 0})
	state = putUint(nil, oldestSnapshot-1)
	frame = append(putUint(nil, uint64(len(state))), state...)
	earlier := newState().restore(bufio.NewReader(bytes.NewReader(frame)), map[journal.Address]*sharedBody{})
	for what, tt := range map[string]struct {
		err   error
		found uint64
		text  string
	}{
		"a later state": {later, snapshotVersion + 1, "its state: the state of the queues was written by a later " +
			"version of hikyaku, in format 7; this one reads formats 4 to 6"},
		"a later record": {unknown, uint64(kindLast) + 1, ""},
		"an earlier state": {earlier, oldestSnapshot - 1, "its state: the state of the queues has format 3, which " +
			"this version of hikyaku no longer reads: it reads formats 4 to 6"},
	} {
		var format *journal.FormatError
		var damage *journal.DamageError
		if !errors.As(tt.err, &format) || errors.As(tt.err, &damage) || format.Found != tt.found || tt.text != "" &&
			tt.err.Error() != tt.text {
			t.Errorf("%s: %v", what, tt.err)
		}
	}
}
