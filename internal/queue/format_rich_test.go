package queue

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
)

// makeState makes the archive of today's state, and the text of what is in it, anew: go test ./internal/queue -run
// TestStatesOfEveryFormat -make-state
var makeState = flag.Bool("make-state", false, "write testdata/format/state-N.tar.gz and .txt of today's format anew")

// describeFormat writes what the texts say of an archive, of all formats alone, anew: it changes no archive.
var describeFormat = flag.Bool("describe-states", false, "write testdata/format/state-*.txt anew")

func stateArchive(version int) string { return fmt.Sprintf("testdata/format/state-%d.tar.gz", version) }

// description is all that a store tells of what it holds.
type description struct {
	strings.Builder
	t *testing.T
	s *Store
}

func (d *description) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *description) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// describe tells all of a store but what only acting on it shows.
func describe(t *testing.T, s *Store) string {
	d := &description{t: t, s: s}
	for _, n := range must(s.Topics(t.Context())) {
		st, err := s.TopicStats(t.Context(), n)
		d.must(err)
		d.line("topic %s: labels %q, subscriptions %v, %d published, %d dropped", n, labelText(st.Labels),
			st.Subscriptions, st.TotalPublish, st.TotalDropped)
	}
	for _, sn := range must(s.Snapshots(t.Context())) {
		d.line("snapshot %s: of %s, %s to %s, labels %q", sn.Name, sn.Queue, stamp(sn.Time), stamp(sn.Expires),
			labelText(sn.Labels))
	}
	for _, n := range must(s.Notes(t.Context(), "tests")) {
		d.line("note %s of %s: %q", n.Key, n.Room, n.Value)
	}
	for _, n := range must(s.Queues(t.Context())) {
		d.queue(n)
	}
	return d.String()
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (d *description) queue(n Name) {
	st, err := d.s.Stats(context.Background(), n)
	d.must(err)
	d.line("queue %s, number %d:", n, st.ID)
	for _, x := range differences(Definition{}, st.Definition) {
		d.line("  %s: %s", x.Field, x.Wanted)
	}
	d.line("  %d ready, %d delayed, %d claimed, %d behind, %d bytes; past %d of %d bytes from %s", st.Ready, st.Delayed,
		st.Claimed, st.Behind, st.Bytes, st.Past, st.PastBytes, stamp(st.PastFrom))
	d.line("  ever: %d put, %d duplicate, %d done, %d dead, %d expired, %d purged, %d claims; next is %d", st.TotalPut,
		st.TotalDuplicate, st.TotalDone, st.TotalDead, st.TotalExpired, st.TotalPurged, st.TotalClaims, st.NextSequence)
	ps, err := d.s.Peek(d.t.Context(), n, PeekRequest{Max: 10_000})
	d.must(err)
	for i := range ps {
		d.message(&ps[i])
		if token, ok, _ := d.s.TokenOf(context.Background(), n, ps[i].Sequence); ok {
			d.line("    token %+v", token)
		}
	}
}

func (d *description) message(p *Peeked) {
	m := &p.Message
	d.line("  %d: %s, %d attempts, until %s, id %s, time %s, body %q", p.Sequence, p.State, p.Attempts, stamp(p.Until),
		m.ID, stamp(m.Time), m.Body)
	for _, x := range []struct{ name, value string }{{"key", m.Key}, {"dedup", m.Dedup}, {"only", m.Only},
		{"damage", p.Damage}} {
		if x.value != "" {
			d.line("    %s %q", x.name, x.value)
		}
	}
	if !m.NotBefore.IsZero() || !m.Expires.IsZero() {
		d.line("    not before %s, expires %s", stamp(m.NotBefore), stamp(m.Expires))
	}
	if x := m.Death; x != nil {
		d.line("    died in %q at step %q after %d attempts, %s: %q", x.Queue, x.Step, x.Attempts, stamp(x.Time),
			x.Reason)
	}
	for _, a := range m.Attributes {
		d.line("    @%s: %s %q", a.Name, a.Value.Kind(), a.Value.Text())
	}
	for i, v := range m.Row {
		d.line("    %s: %s %q", p.Columns[i].Name, v.Kind(), v.Text())
	}
}

// describeActs tells what only acting shows: what is known of ids and sources, and what seeks bring back.
func describeActs(t *testing.T, s *Store) string {
	ctx := t.Context()
	d := &description{t: t, s: s}
	for _, m := range []message.Message{{Dedup: "d1"}, {Dedup: "d2"}, {Dedup: "d3"},
		{Origin: message.Origin{Source: "file 1", Offset: 7, Part: 1}},
		{Origin: message.Origin{Source: "file 1", Offset: 2}},
		{Origin: message.Origin{Source: "file 1", Offset: 7, Part: 2}}} {
		rs, err := s.Put(ctx, formatName("plain"), []message.Message{m})
		d.must(err)
		d.line("put of id %q, place %+v: duplicate %t, sequence %d", m.Dedup, m.Origin, rs[0].Duplicate, rs[0].Sequence)
	}
	for _, x := range []struct {
		queue string
		to    SeekTo
	}{{"history", SeekTo{Snapshot: formatName("kept")}}, {"history", SeekTo{Time: formatBegin}},
		{"some", SeekTo{Snapshot: formatName("of-everything")}},
		{"everything", SeekTo{Time: formatBegin}}} {
		done, err := s.Seek(ctx, formatName(x.queue), x.to)
		d.must(err)
		d.line("seek of %s to %s, %s: %d back, %d settled", x.queue, x.to.Snapshot.Name, stamp(x.to.Time), done.Back,
			done.Settled)
		d.queue(formatName(x.queue))
	}
	return d.String()
}

// TestStatesOfEveryFormatHoldWhatTheyHeld opens a folder of every format of the state, and compares all that it tells
// with the text beside it; twice, since the first start goes on in today's format.
func TestStatesOfEveryFormatHoldWhatTheyHeld(t *testing.T) {
	if *makeState {
		playState(t, stateArchive(snapshotVersion))
	}
	for version := oldestSnapshot; version <= snapshotVersion; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir := t.TempDir()
			unpackFolder(t, stateArchive(version), dir)
			if r, err := file.Check(t.Context(), dir, nil); err != nil || len(r.Damages) > 0 || r.Checkpoints == 0 {
				t.Fatalf("check: %+v, %v", r, err)
			}
			text := strings.TrimSuffix(stateArchive(version), ".tar.gz") + ".txt"
			var held, acts string
			for turn := range 3 {
				s, j := openState(t, dir, func() time.Time { return formatEnd })
				got := describe(t, s)
				if turn > 0 && got != held {
					t.Errorf("start %d: %s", turn+1, firstDifference(got, held))
				}
				if held = got; turn == 2 {
					acts = describeActs(t, s)
				}
				if err := errors.Join(s.Close(), j.Close()); err != nil {
					t.Fatal(err)
				}
			}
			if *makeState && version == snapshotVersion || *describeFormat {
				if err := os.WriteFile(text, []byte(held+"\n"+acts), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := held + "\n" + acts; got != string(want) {
				t.Errorf("%s: %s", filepath.Base(text), firstDifference(got, string(want)))
			}
		})
	}
}

// firstDifference is where two texts part.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nand should be\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("there are %d lines, and should be %d", len(a), len(b))
}

// changedFormat is what to do when an encoder writes other bytes.
const changedFormat = "a format has changed: see CONTRIBUTING.md, \"Changing a format\""

// TestEncodersWriteWhatTheNewestArchiveHolds reads every record, message and checkpoint of the newest archive and
// writes them again: each byte has to be the same. Who changes an encoder gives the format a new number and makes a new
// archive.
func TestEncodersWriteWhatTheNewestArchiveHolds(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	unpackFolder(t, stateArchive(snapshotVersion), dir)
	j, err := file.Open(ctx, file.Options{Dir: dir, SegmentBytes: 1 << 20, MaxGroupBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	missing := map[eventKind]bool{}
	for k := kindStart; k <= kindLast; k++ {
		missing[k] = true
	}
	for g, err := range j.Scan(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range g.Records {
			at, e, err := decodeEvent(r.Head)
			if err != nil {
				t.Fatal(err)
			}
			delete(missing, e.kind())
			if again := encodeEvent(nil, at, e); !bytes.Equal(again, r.Head) {
				t.Errorf("a record of kind %d is %x, and is written as %x: %s", e.kind(), r.Head, again, changedFormat)
			}
			sameMessage(ctx, t, j, e, journal.Address{Position: g.Position, Index: uint32(i)})
		}
	}
	for k := range missing {
		t.Errorf("the newest archive has no record of kind %d: let the test's play have one, and make it anew", k)
	}
	_, r, _, err := j.LoadCheckpoint(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sameState(ctx, t, j, r)
}

// sameMessage fails unless the message of an event is written as it is.
func sameMessage(ctx context.Context, t *testing.T, j *file.Journal, e event, at journal.Address) {
	t.Helper()
	var head []byte
	switch e := e.(type) {
	case *put:
		head = e.head
	case *shared:
		head = e.head
	default:
		return
	}
	err := j.Read(ctx, []journal.Address{at}, func(_ int, r journal.Record, err error) {
		if err != nil {
			return // it was released
		}
		m, err := decodeMessage(head, r.Body)
		if err != nil {
			t.Error(err)
		}
		if again := appendHead(nil, &m); !bytes.Equal(again, head) || !bytes.Equal(bodyPart(&m), r.Body) {
			t.Errorf("message %s is %x, and is written as %x: %s", m.ID, head, again, changedFormat)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameState fails unless the state of a checkpoint is written as it is, and has columns of every type.
func sameState(ctx context.Context, t *testing.T, j *file.Journal, r io.Reader) {
	t.Helper()
	want, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[journal.Address]*sharedBody{}
	st := newState()
	st.folding = true
	if err := st.restore(bufio.NewReader(bytes.NewReader(want)), bodies); err != nil {
		t.Fatal(err)
	}
	if err := readPages(ctx, j, st, bodies); err != nil {
		t.Fatal(err)
	}
	st.saves.done = -1 // what is kept for so many checkpoints more is as it was read
	var again bytes.Buffer
	if _, err := st.beginSnapshot().writeTo(&again, alone); err != nil {
		t.Fatal(err)
	}
	if got := again.Bytes(); !bytes.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("the state has %d bytes, is written as %d, and parts at byte %d: %s", len(want), len(got), at,
			changedFormat)
	}
	types := map[message.ColumnType]bool{}
	for _, q := range slices.Collect(maps.Values(st.queues)) {
		for _, c := range q.def.Columns {
			types[c.Type] = true
		}
	}
	for c := message.ColumnType(1); !strings.HasPrefix(c.String(), "type "); c++ {
		if !types[c] {
			t.Errorf("the newest archive has no column of type %s: let the test's play have one, and make it anew", c)
		}
	}
}
