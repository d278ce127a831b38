package queue

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
)

// ofLater fails unless err says that a later version wrote something, which is no damage.
func ofLater(t *testing.T, what string, err error, text string) {
	t.Helper()
	var format *journal.FormatError
	var damage *journal.DamageError
	if !errors.As(err, &format) || errors.As(err, &damage) || !strings.Contains(err.Error(), text) ||
		format.Found < format.Oldest {
		t.Errorf("%s: %v; wanted a format error with %q", what, err, text)
	}
}

// laterHead is the head of a message with changes of a version to come.
func laterHead(t *testing.T, m message.Message, change func(head []byte) []byte) []byte {
	t.Helper()
	head := change(appendHead(nil, &m))
	if head == nil {
		t.Fatal("there is nothing to change")
	}
	return head
}

// laterRecords are records of versions to come, and what an error says of them.
func laterRecords(t *testing.T) map[string]struct {
	record journal.Record
	text   string
} {
	plain := message.Message{ID: message.ID{1}, Attributes: message.Attributes{{Name: "n", Value: message.Int(7)}}}
	flag := laterHead(t, plain, func(head []byte) []byte { return slices.Insert(head, 16, 0x80, 2)[:len(head)+2] })
	flag = append(flag[:18:18], flag[19:]...) // in the place of the flags that it had
	kind := laterHead(t, plain, func(head []byte) []byte {
		i := bytes.Index(head, []byte{1, 'n', byte(message.KindInt)})
		head[i+2] = byte(message.KindDecimal) + 1
		return head
	})
	more := laterHead(t, plain, func(head []byte) []byte { return append(head, 1) })
	of := func(e event) journal.Record { return record(encodeEvent(nil, 1, e), e) }
	tail := func(e event, more ...byte) journal.Record {
		return record(append(encodeEvent(nil, 1, e), more...), e)
	}
	yes := of(&settled{queue: 1, seq: 1, end: endBack})
	yes.Head[len(yes.Head)-1] = 2
	columns := of(&queueDefined{queue: 9, name: news, def: Definition{Columns: message.Columns{{Name: "c",
		Type: message.TypeInt}}}})
	columns.Head = bytes.Replace(columns.Head, []byte("int"), []byte("geo"), 1)
	return map[string]struct {
		record journal.Record
		text   string
	}{
		"a kind of record":        {journal.Record{Head: []byte{byte(kindLast) + 1, 0}}, "a record was written by"},
		"a type of column":        {columns, `there is no type "geo`},
		"bytes behind a claim":    {tail(&claimed{queue: 1, seq: 1, attempt: 1}, 7), "1 bytes too many"},
		"bytes behind a start":    {tail(&started{epoch: 3}, 1, 2), "2 bytes too many"},
		"bytes behind a seek":     {tail(&sought{queue: 1, to: 1, from: 1, upto: 2}, 1), "1 bytes too many"},
		"a flag of a message":     {of(&put{queue: 1, seq: 3, size: 1, head: flag}), "the flags 0x100"},
		"a kind of value":         {of(&put{queue: 1, seq: 3, size: 1, head: kind}), "value of unknown kind 9"},
		"bytes behind a message":  {of(&shared{topic: 1, number: 1, head: more}), "1 bytes too many"},
		"an end of a message":     {of(&settled{queue: 1, seq: 1, end: endUnknown}), "ends in way 5"},
		"a yes that is more":      {yes, "2 where 0 or 1 was expected"},
		"a record that ends soon": {journal.Record{Head: []byte{byte(kindClaim), 0, 1}}, "does not understand it"},
	}
}

// TestWhatALaterVersionWroteStopsAStartAndIsNoDamage writes, into sound journals on a disk, records that this version
// cannot understand. A start says of each that a later version wrote it, and the check finds no damage.
func TestWhatALaterVersionWroteStopsAStartAndIsNoDamage(t *testing.T) {
	for what, x := range laterRecords(t) {
		dir := t.TempDir()
		withLater(t, dir, func(_ *Store, j *file.Journal) {
			appendRecord(t, j, x.record)
		})
		startsWithLater(t, what, dir, x.text)
	}
}

// withLater lets change a folder with a message in it.
func withLater(t *testing.T, dir string, change func(s *Store, j *file.Journal)) {
	t.Helper()
	ctx := t.Context()
	j, err := file.Open(ctx, file.Options{Dir: dir, SegmentBytes: 1 << 20, MaxGroupBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, Options{Journal: j, Clock: still, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, news, []message.Message{{Body: []byte("here")}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	change(s, j)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendRecord(t *testing.T, j *file.Journal, r journal.Record) {
	t.Helper()
	wrote := make(chan error, 1)
	err := j.Append([]journal.Record{r}, func(_ journal.Position, err error, _ int) { wrote <- err })
	if err == nil {
		err = <-wrote
	}
	if err != nil {
		t.Fatal(err)
	}
}

// startsWithLater fails unless a start says that a later version wrote what is in a folder, and a check that all is
// sound.
func startsWithLater(t *testing.T, what, dir, text string) {
	t.Helper()
	ctx := t.Context()
	r, err := file.Check(ctx, dir, nil)
	if err != nil || len(r.Damages) > 0 {
		t.Errorf("%s: the check says: %+v, %v", what, r, err)
	}
	j, err := file.Open(ctx, file.Options{Dir: dir, SegmentBytes: 1 << 20, MaxGroupBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(ctx, Options{Journal: j, Clock: still})
	ofLater(t, what, err, text)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestACheckpointOfALaterVersionStopsAStartAndIsNoDamage does the same with states in checkpoints.
func TestACheckpointOfALaterVersionStopsAStartAndIsNoDamage(t *testing.T) {
	for what, x := range map[string]struct {
		change func(frames [][]byte) [][]byte
		text   string
	}{
		"a flag of a message": {func(frames [][]byte) [][]byte {
			page := frames[len(frames)-2]
			if page[2] != imageWhole || page[35] != 1 {
				t.Fatalf("this is no page with one message: % x", page[:37])
			}
			page[37] |= savedUnknown
			return frames
		}, "message 1 has the flags 0x80"},
		"a form of a page": {func(frames [][]byte) [][]byte {
			frames[len(frames)-2][2] = imageRecorded + 1
			return frames
		}, "in form 2"},
		"bytes behind a queue": {func(frames [][]byte) [][]byte {
			frames[1] = append(frames[1], 0)
			return frames
		}, "1 bytes too many"},
		"bytes behind all": {func(frames [][]byte) [][]byte { return append(frames, []byte("more")) },
			"more behind its end"},
		"an end too soon": {func(frames [][]byte) [][]byte { return frames[:1] }, "it ends early"},
	} {
		dir := t.TempDir()
		withLater(t, dir, func(_ *Store, j *file.Journal) {
			at, r, _, err := j.LoadCheckpoint(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			frames := x.change(framesOf(t, r))
			if err := j.SaveCheckpoint(t.Context(), at, func(w io.Writer) error {
				for _, frame := range frames {
					if _, err := w.Write(append(putUint(nil, uint64(len(frame))), frame...)); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
		startsWithLater(t, what, dir, x.text)
	}
}

// framesOf takes a checkpoint apart.
func framesOf(t *testing.T, r io.ReadCloser) (frames [][]byte) {
	t.Helper()
	defer r.Close()
	for in := bufio.NewReader(r); ; {
		b, err := readFrame(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if frames = append(frames, b); len(b) == 0 {
			return frames
		}
	}
}

// TestAMessageOfALaterVersionStaysWhereItIs claims a row whose large value, which a start does not read, is of a kind
// to come: the claim says so, and the message is neither given away nor buried.
func TestAMessageOfALaterVersionStaysWhereItIs(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	withLater(t, dir, func(s *Store, j *file.Journal) {
		large := message.String(strings.Repeat("x", 2*largeValue))
		m := message.Message{ID: message.ID{1}, Row: []message.Value{large}}
		part := bodyPart(&m)
		part[0] = byte(message.KindDecimal) + 1
		e := &put{queue: s.state.queueNames[news].id, seq: 2, size: 300, head: appendHead(nil, &m), body: part}
		appendRecord(t, j, record(encodeEvent(nil, 1, e), e))
	})
	j, err := file.Open(ctx, file.Options{Dir: dir, SegmentBytes: 1 << 20, MaxGroupBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s, err := Open(ctx, Options{Journal: j, Clock: still})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	claims, err := s.Claim(ctx, ClaimRequest{From: []From{{Queue: news}}, Max: 2})
	ofLater(t, "a claim", err, "message 2 of queue news: the log: a message was written by a later version of "+
		"hikyaku: its checksum fits, and this one does not understand it: value of unknown kind 9")
	st, err := s.Stats(t.Context(), news)
	if err != nil || len(claims) > 0 || st.Ready != 2 || st.TotalDead != 0 || len(must(s.Queues(t.Context()))) != 1 {
		t.Errorf("%v, %d claims, %+v, %v", err, len(claims), st, must(s.Queues(t.Context())))
	}
	if claims, err = s.Claim(ctx, ClaimRequest{From: []From{{Queue: news}}}); err != nil || len(claims) != 1 ||
		claims[0].Attempt != 1 {
		t.Fatalf("the other message: %+v, %v", claims, err)
	}
}
