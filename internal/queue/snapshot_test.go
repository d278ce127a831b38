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
		old.AlterCheckpoints(func(content []byte) []byte { return asOfVersion4(t, content, len(s.state.queues)) })
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

// TestWhatManySnapshotsDoNotHoldIsForgotten settles and removes messages of which none of many snapshots holds any, and
// some that all of them hold, and starts again.
func TestWhatManySnapshotsDoNotHoldIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mem := newMemory()
		s := open(t, mem)
		const n = 4
		if _, err := s.CreateQueue(t.Context(), news, Definition{History: time.Hour}); err != nil {
			t.Fatal(err)
		}
		end := func() {
			t.Helper()
			for _, c := range mustClaim(t, s, ClaimRequest{From: from(news), Max: n}) {
				settle(t, s, Settlement{Token: c.Token})
			}
		}
		past := func(want int64) {
			t.Helper()
			time.Sleep(2 * time.Second)
			st, err := s.Stats(t.Context(), news)
			if err != nil || st.Past != want || want == 0 && st.PastBytes != 0 {
				t.Errorf("%d of %d bytes are past, want %d, error %v", st.Past, st.PastBytes, want, err)
			}
		}
		began := time.Now().Add(-time.Second)
		mustPut(t, s, news, countedUp(1, 2*n)...)
		end()
		end()
		for i := range fewSnapshots + 1 {
			if _, err := s.TakeSnapshot(t.Context(), holdsName("s%d", i), news, SnapshotOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Seek(t.Context(), news, SeekTo{Time: began}); err != nil {
			t.Fatal(err)
		}
		if err := s.AlterQueue(t.Context(), news, Definition{}); err != nil {
			t.Fatal(err)
		}
		end() // of those that no snapshot holds
		past(0)
		if k, err := s.Remove(t.Context(), news, []uint64{n + 1, n + 2, n + 3, n + 4}); err != nil || k != n {
			t.Fatal(k, err)
		}
		past(0)
		mustPut(t, s, news, countedUp(1, n)...)
		end() // of those that all hold
		past(n)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, mem)
		past(n)
		if done, err := s.Seek(t.Context(), news, SeekTo{Snapshot: holdsName("s7")}); err != nil || done.Back != n {
			t.Errorf("%v comes back, %v", done, err)
		}
	})
}
