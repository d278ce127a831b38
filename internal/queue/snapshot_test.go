package queue

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"
)

// asOfVersion4 makes a checkpoint one that was written before queues could be renamed and altered with messages in
// them: their frames end where former names and layouts begin, of which there are none here.
func asOfVersion4(t *testing.T, data []byte, queues int) (old []byte) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(data))
	for i := 0; ; i++ {
		b, err := readFrame(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case i == 0 && b[0] == snapshotVersion:
			b[0] = 4
		case i == 0:
			t.Fatalf("it has version %d", b[0])
		case i <= queues:
			if !bytes.HasSuffix(b, []byte{0, 0}) {
				t.Fatalf("queue %d has former names or layouts: %x", i, b)
			}
			b = b[:len(b)-2]
		}
		if old = append(putUint(old, uint64(len(b))), b...); len(b) == 0 {
			return old
		}
	}
}

// TestRuleACheckpointOfTheVersionBeforeIsRead starts from one.
func TestRuleACheckpointOfTheVersionBeforeIsRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		withRows(t, s, Definition{Columns: columnsOf(t, "a int", "b text"), History: time.Hour}, `{"a":1,"b":"x"}`,
			`{"a":2,"b":"`+strings.Repeat("y", 300)+`"}`)
		mustPut(t, s, Name{DefaultNamespace, "plain"}, countedUp(0, 3*pageSize)...)
		settleOldest(t, s, news, 1)
		mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour})
		checkpointNow(t, s)
		now := portrayed(s)
		old := m.after(true)
		for i := range old.saved {
			old.saved[i].data = asOfVersion4(t, old.saved[i].data, len(s.state.queues))
		}
		again := open(t, old)
		if got := portrayed(again); got != now {
			t.Errorf("the state is\n%sand a start from the old checkpoint finds\n%s", now, got)
		}
		mustAlter(t, again, columnsOf(t, "b text", "a bigint"))
		if got := rows(t, again); !strings.HasPrefix(got, `{"b":"yyy`) {
			t.Errorf("altered then there are %s", got)
		}
	})
}
