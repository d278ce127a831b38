package queue

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// formatBegin is when the folders of testdata/format/state-*.tar.gz begin, and formatEnd the time at which they are
// looked at: their leases go on, and what is delayed sleeps.
var (
	formatBegin = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)
	formatEnd   = formatBegin.Add(time.Hour)
)

// formatPlay fills a folder with all that a state and its records can hold. Each step is a second later than the one
// before it.
type formatPlay struct {
	t   *testing.T
	ctx context.Context
	s   *Store
	now atomic.Int64 // µs
	ids byte
}

// openState opens a folder with segments large enough for all of it: the log from its beginning stays.
func openState(t *testing.T, dir string, clock func() time.Time) (*Store, *file.Journal) {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: dir, SegmentBytes: 1 << 20, MaxGroupBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Journal: j, Clock: clock, OnDemand: true, CheckpointBytes: 1 << 40})
	if err != nil {
		t.Fatal(errors.Join(err, j.Close()))
	}
	return s, j
}

// playState makes the archive: two lives of a store, the second one cut off as by a kill, with records behind the
// newest checkpoint.
func playState(t *testing.T, archive string) {
	dir := t.TempDir()
	p := &formatPlay{t: t, ctx: t.Context()}
	p.now.Store(formatBegin.UnixMicro())
	clock := func() time.Time { return time.UnixMicro(p.now.Load()) }
	s, j := openState(t, dir, clock)
	p.s = s
	p.topics()
	p.plain()
	p.rows()
	p.past()
	p.paged()
	p.must(errors.Join(s.Close(), j.Close()))
	s, j = openState(t, dir, clock)
	p.s = s
	p.must(s.checkpoint(p.ctx))
	p.later()
	p.must(packQuiet(p.ctx, t, dir, archive))
	p.must(errors.Join(s.Close(), j.Close()))
}

func (p *formatPlay) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	p.now.Add(1_000_000)
}

func (p *formatPlay) at(after time.Duration) time.Time {
	return time.UnixMicro(p.now.Load()).Add(after).UTC()
}

func formatName(name string) Name { return Name{DefaultNamespace, name} }

func (p *formatPlay) create(name string, d Definition) {
	p.t.Helper()
	_, err := p.s.CreateQueue(p.ctx, formatName(name), d)
	p.must(err)
}

// put puts or publishes a message with an id of its own.
func (p *formatPlay) put(name string, m message.Message) {
	p.t.Helper()
	p.ids++
	m.ID = message.ID{0xf0, p.ids}
	_, err := p.s.Publish(p.ctx, formatName(name), []message.Message{m})
	p.must(err)
}

// claim claims so many messages, as r says.
func (p *formatPlay) claim(name string, n int, r ClaimRequest) []Claim {
	p.t.Helper()
	r.From, r.Max = []From{{Queue: formatName(name)}}, n
	claims, err := p.s.Claim(p.ctx, r)
	p.must(err)
	if len(claims) != n {
		p.t.Fatalf("%d claims of %s, wanted %d", len(claims), name, n)
	}
	return claims
}

func (p *formatPlay) settle(c Claim, how Settlement) {
	p.t.Helper()
	how.Token = c.Token
	errs, err := p.s.Settle(p.ctx, []Settlement{how})
	p.must(errors.Join(append(errs, err)...))
}

// everyKind has an attribute of every kind of value.
func everyKind() message.Attributes {
	var a message.Attributes
	for name, v := range map[string]message.Value{
		"null": message.Null(), "bool": message.Bool(true), "int": message.Int(-7), "uint": message.Uint(1<<64 - 1),
		"float": message.Float(2.5), "text": message.String("飛脚"), "bytes": message.Bytes([]byte{0, 0xff}),
		"time": message.Time(formatBegin), "decimal": message.Decimal("-12.50"), "n": message.Int(2),
	} {
		a.Set(name, v)
	}
	return a
}

// topics: shared bodies, a filter, one subscription that comes late, and what is gone.
func (p *formatPlay) topics() {
	_, err := p.s.CreateTopic(p.ctx, formatName("all"), map[string]string{"made": "for the test", "b": "2"})
	p.must(err)
	_, err = p.s.CreateTopic(p.ctx, formatName("gone"), nil)
	p.must(err)
	p.must(p.s.DeleteTopic(p.ctx, formatName("gone")))
	p.create("gone", Definition{})
	p.must(p.s.DeleteQueue(p.ctx, formatName("gone")))
	p.create("everything", Definition{Topic: "all", ExactlyOnce: true, Labels: map[string]string{"l": "1"},
		History: 48 * time.Hour})
	p.create("some", Definition{Topic: "all", Filter: "n > 1", History: 48 * time.Hour})
	p.put("all", message.Message{Body: []byte("shared"), Attributes: everyKind(), Key: "k"})
	p.put("all", message.Message{Body: []byte("for one"),
		Attributes: message.Attributes{{Name: "n", Value: message.Int(1)}}})
	p.create("late", Definition{Topic: "all", Unordered: true})
	p.put("all", message.Message{Body: []byte(strings.Repeat("for all ", 40)), Attributes: everyKind(), Key: "k"})
	p.put("all", message.Message{Body: []byte("settled by two"), Attributes: everyKind()})
	_, err = p.s.TakeSnapshot(p.ctx, formatName("of-everything"), formatName("everything"),
		SnapshotOptions{Life: 96 * time.Hour, Labels: map[string]string{"s": "1"}})
	p.must(err)
	p.settle(p.claim("everything", 1, ClaimRequest{})[0], Settlement{})
	p.settle(p.claim("some", 1, ClaimRequest{})[0], Settlement{})
	_, err = p.s.Seek(p.ctx, formatName("some"), SeekTo{Snapshot: formatName("of-everything")})
	p.must(err)
	p.settle(p.claim("some", 1, ClaimRequest{})[0], Settlement{})
}

// plain: keys, delays, deduplication, origins, expiry, leases, ends of every kind, dead letters, notes.
func (p *formatPlay) plain() {
	p.create("plain", Definition{MaxAttempts: 2, DeadLetter: "graves", Lease: 10 * time.Minute,
		Retention: 48 * time.Hour, DedupWindow: 72 * time.Hour, MaxMessages: 1000, MaxBytes: 1 << 20})
	for i, m := range []message.Message{
		{Body: []byte("one"), Dedup: "d1", Key: "a"}, {Body: []byte("behind one"), Key: "a"},
		{Body: []byte("two"), NotBefore: formatEnd.Add(time.Hour)},
		{Body: []byte("three"), Expires: formatEnd.Add(time.Hour)},
		{Body: []byte("four"), Origin: message.Origin{Source: "file 1", Offset: 7, Part: 1, Mark: 3}},
		{Body: []byte("spent")}, {Body: []byte("buried"), Attributes: everyKind()}, {Body: []byte("leased")},
		{Body: []byte("owned")}, {Body: []byte("back later")}, {Body: []byte("done"), Dedup: "d2"},
		{Body: []byte("removed")},
		{Body: []byte("expired"), Expires: p.at(20 * time.Second)}, {Time: formatBegin.Add(-time.Hour)},
	} {
		if p.put("plain", m); i == 12 {
			waittest.Until(p.t, "it has expired", func() bool {
				p.now.Add(1_000_000)
				st, err := p.s.Stats(context.Background(), formatName("plain"))
				return err == nil && st.TotalExpired == 1
			})
		}
	}
	byBody := func(body string, r ClaimRequest) Claim {
		p.t.Helper()
		where, err := condition.Parse("body = '" + body + "'")
		p.must(err)
		r.From = []From{{Queue: formatName("plain"), Where: where}}
		claims, err := p.s.Claim(p.ctx, r)
		p.must(err)
		if len(claims) != 1 {
			p.t.Fatalf("%d claims of %q", len(claims), body)
		}
		return claims[0]
	}
	p.settle(byBody("buried", ClaimRequest{}), Settlement{Kind: Dead, Reason: "no good", Step: "sink"})
	for range 2 {
		p.settle(byBody("spent", ClaimRequest{}), Settlement{Kind: Back})
	}
	waittest.Until(p.t, "it is buried", func() bool {
		st, err := p.s.Stats(context.Background(), formatName("plain"))
		return err == nil && st.TotalDead == 2
	})
	leased := byBody("leased", ClaimRequest{Lease: 2 * time.Hour})
	errs, err := p.s.Extend(p.ctx, []Token{leased.Token}, 48*time.Hour)
	p.must(errors.Join(append(errs, err)...))
	byBody("owned", ClaimRequest{Owner: p.s.NewOwner("somebody")})
	p.settle(byBody("back later", ClaimRequest{}), Settlement{Kind: Back, Delay: 24 * time.Hour})
	p.settle(byBody("four", ClaimRequest{}), Settlement{Kind: Back, Uncounted: true})
	p.settle(byBody("done", ClaimRequest{}), Settlement{})
	_, err = p.s.Remove(p.ctx, formatName("plain"), []uint64{12})
	p.must(err)
	p.must(p.s.SetNotes(p.ctx, Note{"tests", "kept", []byte("value")}, Note{"tests", "empty", []byte{}},
		Note{"tests", "gone", []byte("x")}))
	p.must(p.s.SetNotes(p.ctx, Note{"tests", "gone", nil}))
}

// formatColumns are a column of every type, and some with what else a column may have.
func formatColumns(t *testing.T) message.Columns {
	t.Helper()
	columns, err := message.ParseColumns([]string{"id int unsigned not null", "t_tinyint tinyint",
		"t_smallint smallint", "t_mediumint mediumint", "t_bigint bigint unsigned", "t_decimal decimal(10,2)",
		"t_float float", "t_double double", "t_bit bit(8)", "t_date date", "t_datetime datetime(6)",
		"t_timestamp timestamp(3)", "t_time time", "t_year year",
		"t_char char(4) character set utf8mb4", "t_varchar varchar(300) not null default 'x'", "t_binary binary(3)",
		"t_varbinary varbinary(300)", "t_tinytext tinytext", "t_text text", "t_mediumtext mediumtext",
		"t_longtext longtext",
		"t_tinyblob tinyblob", "t_blob blob", "t_mediumblob mediumblob", "t_longblob longblob", "t_json json",
		"t_enum enum('a','b')", "t_set set('x','y','z')"})
	if err != nil {
		t.Fatal(err)
	}
	return columns
}

// rowOf28 is a row of formatColumns.
func rowOf28(t *testing.T, columns message.Columns, id int) []message.Value {
	t.Helper()
	large := strings.Repeat("large ", 40)
	texts := []string{fmt.Sprint(id), "-8", "-300", "70000", "18446744073709551615", "-12.50", "2.5", "0.1", "129",
		"2026-01-02", "2026-01-02 03:04:05.678901", "2026-01-02 03:04:05.678", "26:00:01", "2026", "飛脚", large, "abc",
		large, "tiny", "text", "medium", large, "tiny", large, "medium", "long", `{"a": [1, null]}`, "b", "x,z"}
	row := make([]message.Value, len(texts))
	for i, text := range texts {
		var err error
		if row[i], err = columns[i].Convert(message.String(text)); err != nil {
			t.Fatal(err)
		}
	}
	return row
}

// rows: columns of every type, and rows from before two alterations.
func (p *formatPlay) rows() {
	columns := formatColumns(p.t)
	p.create("rows", Definition{Columns: columns})
	nulls := make([]message.Value, len(columns))
	nulls[0], nulls[15] = message.Int(1), message.String("")
	p.put("rows", message.Message{Row: rowOf28(p.t, columns, 0)})
	p.put("rows", message.Message{Row: nulls, Attributes: everyKind()})
	p.create("altered", Definition{Columns: columns[:3]})
	p.put("altered", message.Message{Row: rowOf28(p.t, columns, 2)[:3]})
	wide, err := message.ParseColumns([]string{"id bigint not null", "added varchar(20) not null default 'new'",
		"t_smallint varchar(20)"})
	p.must(err)
	p.must(p.s.AlterColumns(p.ctx, formatName("altered"), Definition{Columns: wide}, []int{0, -1, 2}, 0))
	p.put("altered", message.Message{Row: []message.Value{message.Int(3), message.String("given"),
		message.String("9")}})
	p.must(p.s.AlterColumns(p.ctx, formatName("altered"), Definition{Columns: wide[:2]}, []int{0, 1}, 0))
	p.put("altered", message.Message{Row: []message.Value{message.Int(4), message.String("last")}})
	p.create("altered-often", Definition{Columns: columns[2:3]})
	p.put("altered-often", message.Message{Row: rowOf28(p.t, columns, 5)[2:3]})
	for i, texts := range [][]string{ // two layouts have one value from before, and end one way
		{"t_smallint varchar(20)"}, {"t_smallint varchar(20)", "e enum('x', 'y') not null default 'y'"},
		{"t_smallint char(10)", "e enum('x', 'y') not null default 'y'"},
	} {
		wide, err := message.ParseColumns(texts)
		p.must(err)
		from := []int{0, 1 - 2*(i&1)}[:len(wide)]
		p.must(p.s.AlterColumns(p.ctx, formatName("altered-often"), Definition{Columns: wide}, from, 0))
		row := []message.Value{message.String(fmt.Sprint(i)), message.String("x")}
		p.put("altered-often", message.Message{Row: row[:len(wide)]})
	}
}

// past: a history, snapshots, seeks, a purge, a name of before.
func (p *formatPlay) past() {
	p.create("history", Definition{History: 48 * time.Hour})
	from := time.Time{}
	for n := range 5 {
		if p.put("history", message.Message{Body: fmt.Appendf(nil, "of the past %d", n), Key: "h"}); n == 1 {
			from = p.at(0)
		}
	}
	for range 3 {
		p.settle(p.claim("history", 1, ClaimRequest{})[0], Settlement{})
	}
	for _, name := range []string{"kept", "brief"} {
		_, err := p.s.TakeSnapshot(p.ctx, formatName(name), formatName("history"),
			SnapshotOptions{Life: 96 * time.Hour})
		p.must(err)
	}
	p.must(p.s.DeleteSnapshot(p.ctx, formatName("brief")))
	_, err := p.s.Seek(p.ctx, formatName("history"), SeekTo{Time: from})
	p.must(err)
	p.settle(p.claim("history", 1, ClaimRequest{})[0], Settlement{})
	p.create("purged", Definition{})
	p.put("purged", message.Message{Body: []byte("away")})
	_, err = p.s.Purge(p.ctx, formatName("purged"))
	p.must(err)
	p.create("before", Definition{Delay: time.Minute})
	p.must(p.s.RenameQueue(p.ctx, formatName("before"), formatName("after")))
	_, err = p.s.Replay(p.ctx, formatName("graves"), ReplayRequest{Max: 1})
	p.must(err)
}

// paged: a page that has a record of its own, and changes in it since.
func (p *formatPlay) paged() {
	p.create("paged", Definition{})
	msgs := make([]message.Message, pageSize+4)
	for n := range msgs {
		msgs[n] = message.Message{ID: message.ID{0xf1, byte(n >> 8), byte(n)}, Body: fmt.Appendf(nil, "%d", n)}
	}
	_, err := p.s.Put(p.ctx, formatName("paged"), msgs)
	p.must(err)
	p.must(p.s.checkpoint(p.ctx))
	claims := p.claim("paged", pageSize-2, ClaimRequest{Lease: 48 * time.Hour})
	var done []Settlement
	for i, c := range claims {
		if i%64 != 0 {
			done = append(done, Settlement{Token: c.Token})
		}
	}
	_, err = p.s.Settle(p.ctx, done)
	p.must(err)
	p.settle(claims[0], Settlement{Kind: Back, Delay: 24 * time.Hour})
}

// later: records behind the newest checkpoint.
func (p *formatPlay) later() {
	p.put("plain", message.Message{Body: []byte("after the checkpoint"), Key: "z"})
	p.put("all", message.Message{Body: []byte("after, too"), Attributes: everyKind()})
	p.settle(p.claim("late", 1, ClaimRequest{})[0], Settlement{})
	p.claim("paged", 1, ClaimRequest{Lease: 48 * time.Hour})
	p.claim("plain", 1, ClaimRequest{Lease: 48 * time.Hour})
	p.must(p.s.SetNotes(p.ctx, Note{"tests", "later", []byte("too")}))
}

// packQuiet packs a folder in use at a moment when nothing in it is half done.
func packQuiet(ctx context.Context, t *testing.T, dir, to string) error {
	for {
		if err := packFolder(dir, to); err != nil {
			return err
		}
		copied := t.TempDir()
		unpackFolder(t, to, copied)
		if r, err := file.Check(ctx, copied, nil); err != nil || len(r.Damages) == 0 {
			return err
		}
	}
}

// PackFolder and UnpackFolder are for the tests outside of the package.
var PackFolder, UnpackFolder = packFolder, unpackFolder

// packFolder writes the files of a folder as a packed archive.
func packFolder(dir, to string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w := tar.NewWriter(z)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "spare-") || e.Name() == "lock" {
			continue // nothing is in them
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: e.Name(), Mode: 0o600, Size: int64(len(content))}); err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}

func unpackFolder(t *testing.T, from, dir string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		var b []byte
		if err == nil {
			b, err = io.ReadAll(r)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
