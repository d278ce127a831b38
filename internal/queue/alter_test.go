package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// columnTypes are what columns in these tests may be.
var columnTypes = []string{
	"tinyint", "smallint unsigned", "int", "bigint", "decimal(6,2)", "decimal(20,4)", "float", "double", "bit(16)",
	"year", "date", "datetime", "datetime(6)",
	"timestamp", "time(2)", "char(4)", "varchar(3)", "varchar(250)", "tinytext", "text", "binary(4)", "varbinary(250)",
	"blob", "json",
}

func drawColumn(t *rapid.T, name string) message.Column {
	text := name + " " + rapid.SampledFrom(columnTypes).Draw(t, "type")
	if rapid.IntRange(0, 2).Draw(t, "may be null") == 0 {
		text += " not null"
	}
	c, err := message.ParseColumn(text)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "with a default") {
		if v, err := c.Convert(drawRaw(t)); err == nil && !v.IsNull() && v.Kind() != message.KindTime {
			c.Default = &v
		}
	}
	return c
}

// drawRaw draws something that many columns can hold.
func drawRaw(t *rapid.T) message.Value {
	switch rapid.IntRange(0, 6).Draw(t, "kind of value") {
	case 0:
		return message.Null()
	case 1:
		return message.Int(rapid.Int64Range(-3, 300).Draw(t, "number"))
	case 2:
		return message.Decimal(fmt.Sprintf("%d.%02d", rapid.IntRange(0, 99).Draw(t, "whole"),
			rapid.IntRange(0, 99).Draw(t, "fraction")))
	case 3:
		return message.Time(time.Date(rapid.IntRange(1990, 2030).Draw(t, "year"), 5, 6, 7, 8, 9, 123456000, time.UTC))
	case 4:
		return message.String(strings.Repeat("7", rapid.SampledFrom([]int{1, 3, 200}).Draw(t, "digits")))
	case 5:
		return message.String("2001-02-03 04:05:06.789")
	}
	return message.String(rapid.SampledFrom([]string{"", "a", "b ", "long"}).Draw(t, "text"))
}

// drawValue draws a value of a column.
func drawValue(t *rapid.T, c message.Column) message.Value {
	if v, err := c.Convert(drawRaw(t)); err == nil {
		return v
	}
	if v, err := filler(c); err == nil {
		return v
	}
	v, err := c.Convert(message.Time(time.Date(2020, 2, 2, 2, 2, 2, 0, time.UTC)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// alteredRow is what a message of the reference has: an alteration makes it anew, as a table would.
type alteredRow struct {
	seq     uint64
	row     []message.Value
	claimed bool
}

// TestAlteredQueuesShowWhatMakingEveryRowAnewWouldShow alters a queue at random, through restarts, and compares it with
// rows that are made anew by each alteration: what is shown, what conditions find, and which alterations are refused.
func TestAlteredQueuesShowWhatMakingEveryRowAnewWouldShow(t *testing.T) {
	cases(t, 100, 40)
	done, refused := 0, 0
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(t *rapid.T) {
			ctx := context.Background()
			mem := newMemory()
			var s *Store
			start := func() {
				var err error
				if s, err = Open(ctx, Options{Journal: mem, CheckpointBytes: 1 << 40}); err != nil {
					t.Fatal(err)
				}
			}
			start()
			defer func() { _ = s.Close(); mem.Close() }()
			columns, names := message.Columns{drawColumn(t, "c0"), drawColumn(t, "c1")}, 2
			if _, err := s.CreateQueue(ctx, news, Definition{Columns: columns}); err != nil {
				t.Fatal(err)
			}
			var ref []*alteredRow
			t.Repeat(map[string]func(*rapid.T){
				"put": func(t *rapid.T) {
					var ms []message.Message
					for range rapid.IntRange(1, 3).Draw(t, "group") {
						row := make([]message.Value, len(columns))
						for i := range row {
							row[i] = drawValue(t, columns[i])
						}
						ms = append(ms, message.Message{Row: row})
					}
					rs, err := s.Put(ctx, news, ms)
					if err != nil {
						t.Fatal(err)
					}
					for i := range rs {
						ref = append(ref, &alteredRow{seq: rs[i].Sequence, row: ms[i].Row})
					}
				},
				"alter": func(t *rapid.T) {
					var now message.Columns
					var from []int
					for i, c := range columns {
						switch rapid.IntRange(0, 5).Draw(t, "what becomes of it") {
						case 0: // nothing
							if len(columns) > 1 {
								continue
							}
						case 1:
							c = drawColumn(t, c.Name)
						case 2:
							c.Name = fmt.Sprint("c", names)
							names++
						}
						now, from = append(now, c), append(from, i)
					}
					if len(now) == 0 || len(now) < 5 && rapid.Bool().Draw(t, "add one") {
						now, from = append(now, drawColumn(t, fmt.Sprint("c", names))), append(from, fixed)
						names++
					}
					if rapid.Bool().Draw(t, "move one") {
						i, j := rapid.IntRange(0, len(now)-1).Draw(t, "this"),
							rapid.IntRange(0, len(now)-1).Draw(t, "that")
						now[i], now[j], from[i], from[j] = now[j], now[i], from[j], from[i]
					}
					var anew [][]message.Value
					var misfit uint64
					for _, x := range ref {
						row := make([]message.Value, len(now))
						for i, c := range now {
							var err error
							if from[i] == fixed {
								row[i], err = filler(c)
							} else {
								row[i], err = c.Convert(x.row[from[i]])
							}
							if err != nil && misfit == 0 {
								misfit = x.seq
							}
						}
						anew = append(anew, row)
					}
					err := s.AlterColumns(ctx, news, Definition{Columns: now}, from, 0)
					if (err != nil) != (misfit != 0) || err != nil &&
						(!errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "column")) {
						t.Fatalf("%v became %v of %v: %v, message %d does not fit", columnTexts(columns),
							columnTexts(now), from, err, misfit)
					}
					if err != nil {
						refused++
						return
					}
					done++
					columns = now
					for i, x := range ref {
						x.row = anew[i]
					}
				},
				"claim": func(t *rapid.T) {
					i := rapid.IntRange(0, len(columns)-1).Draw(t, "column")
					text := columns[i].Name + rapid.SampledFrom([]string{" is null", " = 7", " > 50", " < '3'",
						" like '7%'", " <> 1 and 1 = 1", " >= '2001-01-01 00:00:00'"}).Draw(t, "condition")
					e, err := condition.Parse(text)
					if err != nil {
						t.Fatal(err)
					}
					var want *alteredRow
					for _, x := range ref {
						if !x.claimed && e.Match(&messageEnv{columns: columns, m: &message.Message{Row: x.row}}) {
							want = x
							break
						}
					}
					cs, err := s.Claim(ctx, ClaimRequest{From: []From{{Queue: news, Where: e}}, Lease: MaxLease})
					switch {
					case err != nil:
						t.Fatal(err)
					case want == nil && len(cs) > 0, want != nil && (len(cs) == 0 || cs[0].Sequence != want.seq):
						t.Fatalf("%s of %v finds %v, the reference %v", text, columnTexts(columns), cs, want)
					case want == nil:
						return
					}
					if !slices.Equal(cs[0].Message.Row, want.row) {
						t.Fatalf("message %d is claimed as %v, the reference has %v", want.seq, cs[0].Message.Row,
							want.row)
					}
					if want.claimed = rapid.Bool().Draw(t, "keep"); want.claimed {
						return
					}
					kind := SettleKind(rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "settle"))
					if errs, err := s.Settle(ctx, []Settlement{{Token: cs[0].Token, Kind: kind}}); err != nil ||
						errs[0] != nil {
						t.Fatal(err, errs)
					}
					if kind == Done {
						ref = slices.DeleteFunc(ref, func(x *alteredRow) bool { return x == want })
					}
				},
				"remove": func(t *rapid.T) {
					if len(ref) == 0 {
						t.Skip("there is nothing")
					}
					seq := rapid.SampledFrom(ref).Draw(t, "which").seq
					if _, err := s.Remove(ctx, news, []uint64{seq}); err != nil {
						t.Fatal(err)
					}
					ref = slices.DeleteFunc(ref, func(x *alteredRow) bool { return x.seq == seq && !x.claimed })
				},
				"checkpoint": func(t *rapid.T) {
					if err := s.checkpoint(ctx); err != nil {
						t.Fatal(err)
					}
				},
				"death": func(t *rapid.T) {
					next := mem.after(false)
					_ = s.Close()
					mem.Close()
					mem = next
					start()
				},
				"": func(t *rapid.T) {
					ps, err := s.Peek(ctx, news, PeekRequest{Max: 10000})
					if err != nil || len(ps) != len(ref) {
						t.Fatalf("%d messages, the reference has %d, %v", len(ps), len(ref), err)
					}
					for i, x := range ref {
						if p := &ps[i]; p.Sequence != x.seq || p.Damage != "" || (p.State == Claimed) != x.claimed ||
							!slices.Equal(p.Message.Row, x.row) || !sameColumns(p.Columns, columns) {
							t.Fatalf("%v: the store shows %+v, the reference %+v", columnTexts(columns), p, x)
						}
					}
				},
			})
		})
	})
	if done == 0 || refused == 0 { // how many is up to chance
		t.Errorf("%d alterations were done, %d refused", done, refused)
	}
}

// TestAColumnThatKeepsValuesKeepsThem converts values of a column to another of which it is said that all fit as they
// are.
func TestAColumnThatKeepsValuesKeepsThem(t *testing.T) {
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		a := drawColumn(t, "a")
		v := drawValue(t, a)
		for _, text := range columnTypes {
			b, err := message.ParseColumn("b " + text)
			if err != nil {
				t.Fatal(err)
			}
			if !keeps(a, b) || b.Type == a.Type {
				continue
			}
			kept++
			if w, err := b.Convert(v); err != nil || w != v {
				t.Fatalf("%#v of %s is %#v of %s, %v", v, a, w, b, err)
			}
		}
	})
	if kept == 0 {
		t.Error("no column keeps the values of another")
	}
	for _, x := range [][2]string{{"tinyint", "bigint"}, {"int unsigned", "bigint unsigned"},
		{"varchar(3)", "varchar(4)"}, {"tinytext", "longtext"}, {"blob", "mediumblob"},
		{"varbinary(3)", "varbinary(9)"}, {"varchar(60)", "tinytext"}, {"varbinary(255)", "tinyblob"},
		{"datetime", "datetime(6)"}, {"int(5)", "int(11)"}, {"float(7,4)", "float"},
		{"decimal(5,2)", "decimal(5,2)"}} {
		cs, err := message.ParseColumns([]string{"a " + x[0], "b " + x[1]})
		if err != nil {
			t.Fatal(err)
		}
		if !keeps(cs[0], cs[1]) {
			t.Errorf("%s is looked at when it becomes %s", x[0], x[1])
		}
	}
}

func TestAMessageHasTheLayoutOfItsTime(t *testing.T) {
	q := &queueState{}
	if q.layoutOf(1) != nil {
		t.Error("without an alteration there is a layout")
	}
	for _, upto := range []uint64{5, 9, 300} {
		q.layouts = append(q.layouts, asPut(1, upto))
	}
	for seq, want := range map[uint64]uint64{0: 5, 1: 5, 4: 5, 5: 9, 8: 9, 9: 300, 299: 300} {
		if l := q.layoutOf(seq); l == nil || l.upto != want {
			t.Errorf("message %d has %+v, want that up to %d", seq, l, want)
		}
	}
	if q.layoutOf(300) != nil || q.layoutOf(1<<63) != nil {
		t.Error("what came after the last alteration has a layout")
	}
}

func TestWhatIsSaidOfColumnsIsChecked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		if _, err := s.CreateTopic(ctx, Name{DefaultNamespace, "t"}, nil); err != nil {
			t.Fatal(err)
		}
		withRows(t, s, Definition{Topic: "t", Filter: "a > 1 and lang = 'ja'",
			Columns: columnsOf(t, "a int", "b int", "c int")}, `{"a":1,"b":2,"c":3}`)
		_, version, _ := s.Definition(t.Context(), news)
		two := columnsOf(t, "a int", "b int")
		for what, x := range map[string]struct {
			columns message.Columns
			from    []int
			version uint64
			want    error
		}{
			"nothing is said":                {two, nil, 0, ErrDefinition},
			"too little is said":             {two, []int{0}, 0, ErrDefinition},
			"a column that is not there":     {two, []int{0, 3}, 0, ErrDefinition},
			"less than nothing":              {two, []int{0, -2}, 0, ErrDefinition},
			"one column twice":               {two, []int{1, 1}, 0, ErrDefinition},
			"no columns any more":            {nil, []int{}, 0, ErrDefinition},
			"the filter's column is renamed": {columnsOf(t, "z int"), []int{0}, 0, ErrDefinition},
			"another version":                {two, []int{0, 1}, version + 1, ErrChanged},
		} {
			if err := s.AlterColumns(ctx, news, Definition{Columns: x.columns}, x.from, x.version); !errors.Is(err,
				x.want) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := s.AlterColumns(ctx, Name{DefaultNamespace, "nowhere"}, Definition{}, nil, 0); !errors.Is(err,
			ErrNotFound) {
			t.Errorf("of a queue that is not there: %v", err)
		}
		if err := s.AlterColumns(ctx, news, Definition{Columns: columnsOf(t, "c int", "A bigint", "b int")},
			[]int{2, 0, 1}, version); err != nil {
			t.Error(err)
		}
		m := message.Message{Body: []byte(`{"A":5,"b":6,"c":7}`)}
		m.Attributes.Set("lang", message.String("ja"))
		if _, err := s.Publish(ctx, Name{DefaultNamespace, "t"}, []message.Message{m}); err != nil {
			t.Fatal(err)
		}
		if got := rows(t, s); got != `{"c":3,"A":1,"b":2} {"c":7,"A":5,"b":6}` {
			t.Errorf("there are %s", got)
		}
		row := message.Message{Row: []message.Value{message.Int(1), message.Int(2), message.Int(3)}}
		put := func(version uint64) error {
			_, _, err := s.Commit(ctx,
				Change{Puts: []QueuePut{{To: news, Messages: []message.Message{row}, Version: version}}})
			return err
		}
		if err := put(version); !errors.Is(err, ErrChanged) {
			t.Errorf("a row for the columns of before: %v", err)
		}
		_, version, _ = s.Definition(t.Context(), news)
		if err := put(version); err != nil {
			t.Errorf("a row for the columns of now: %v", err)
		}
		if _, err := s.CreateQueue(ctx, Name{DefaultNamespace, "plain"}, Definition{}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, Name{DefaultNamespace, "plain"}, text("x")...)
		if err := s.AlterQueue(ctx, Name{DefaultNamespace, "plain"}, Definition{Columns: two}); !errors.Is(err,
			ErrDefinition) {
			t.Errorf("first columns for what has messages: %v", err)
		}
	})
}

// TestDeadLettersAndReplaysTakeRowsByTheColumnsThatAreNow moves rows from before an alteration elsewhere.
func TestDeadLettersAndReplaysTakeRowsByTheColumnsThatAreNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		long := strings.Repeat("x", 500)
		withRows(t, s, Definition{Columns: columnsOf(t, "a text", "b int")}, `{"a":"`+long+`","b":1}`,
			`{"a":"two","b":2}`)
		mustAlter(t, s, columnsOf(t, "b varchar(9)", "text varchar(600)"), 1, 0)
		settle(t, s, Settlement{Token: mustClaim(t, s, ClaimRequest{From: from(news)})[0].Token, Kind: Dead})
		dead := Name{DefaultNamespace, "news_dead"}
		if got, want := there(t, s, dead), `{"b":"1","text":"`+long+`"}`; got != want {
			t.Errorf("the dead letter is %s", got)
		}
		if r, err := s.Replay(ctx, dead, ReplayRequest{}); err != nil || r.Moved != 1 {
			t.Errorf("replayed %+v, %v", r, err)
		}
		if r, err := s.Replay(ctx, news, ReplayRequest{To: Name{DefaultNamespace, "elsewhere"}}); err != nil ||
			r.Moved != 2 {
			t.Errorf("replayed %+v, %v", r, err)
		}
		if got, want := there(t, s, Name{DefaultNamespace, "elsewhere"}),
			`{"b":"2","text":"two"} {"b":"1","text":"`+long+`"}`; got != want {
			t.Errorf("elsewhere are %s", got)
		}
	})
}

// TestWhatASeekBringsBackIsShownByTheColumnsThatAreNow settles rows, alters, and brings them back.
func TestWhatASeekBringsBackIsShownByTheColumnsThatAreNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		began := time.Now()
		withRows(t, s, Definition{Columns: columnsOf(t, "a int", "b int"), History: time.Hour}, `{"a":1,"b":2}`,
			`{"a":3,"b":4}`)
		settleOldest(t, s, news, 2)
		mustAlter(t, s, columnsOf(t, "b varchar(3)", "c int not null", "a int"))
		mustPut(t, s, news, text(`{"b":"six","c":1,"a":5}`)...)
		checkpointNow(t, s)
		s = open(t, m.after(true))
		mustSeek(t, s, news, SeekTo{Time: began})
		if got := rows(t, s); got != `{"b":"2","c":0,"a":1} {"b":"4","c":0,"a":3} {"b":"six","c":1,"a":5}` {
			t.Errorf("there are %s", got)
		}
		if got := matching(t, s, "b = '4'"); got != "[2]" {
			t.Errorf("found %s", got)
		}
	})
}

// TestPutsClaimsAndAlterationsGoOnTogether works on a queue from many goroutines while its columns change: each row is
// of the columns that come with it, and none is lost.
func TestPutsClaimsAndAlterationsGoOnTogether(t *testing.T) {
	ctx := t.Context()
	mem := newMemory()
	s := open(t, mem)
	withRows(t, s, Definition{Columns: columnsOf(t, "n int", "pad text")})
	shapes := []message.Columns{
		columnsOf(t, "n int", "pad text"), columnsOf(t, "pad varchar(300)", "n bigint"),
		columnsOf(t, "n varchar(20)", "extra int not null", "pad text"),
		columnsOf(t, "n decimal(20,2)", "pad tinytext"),
	}
	const each, writers = 150, 4
	var putting, taking sync.WaitGroup
	for w := range writers {
		putting.Go(func() {
			for i := range each {
				n := w*each + i
				body := fmt.Appendf(nil, `{"n":%d,"pad":"%s"}`, n, strings.Repeat("p", n%2*190))
				for {
					_, err := s.Put(ctx, news, []message.Message{{Body: body}})
					if errors.Is(err, ErrMismatch) { // n is a text for the moment
						body = fmt.Appendf(nil, `{"n":"%d","pad":"%s"}`, n, strings.Repeat("p", n%2*190))
						if _, err = s.Put(ctx, news, []message.Message{{Body: body}}); errors.Is(err, ErrMismatch) {
							body = fmt.Appendf(nil, `{"n":%d,"pad":"%s"}`, n, strings.Repeat("p", n%2*190))
							continue
						}
					}
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	stop := make(chan struct{})
	var altering sync.WaitGroup
	altering.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.AlterQueue(ctx, news, Definition{Columns: shapes[i%len(shapes)]}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var mu sync.Mutex
	seen := map[string]int{}
	for range 3 {
		taking.Go(func() {
			for {
				cs, err := s.Claim(ctx, ClaimRequest{From: where(t, news, "n >= 0 and pad is not null"), Max: 5,
					Wait: time.Second, Lease: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				var done []Settlement
				mu.Lock()
				for i := range cs {
					at, _ := cs[i].Columns.Lookup("n")
					pad, _ := cs[i].Columns.Lookup("pad")
					n, _, _ := strings.Cut(cs[i].Message.Row[at].Text(), ".")
					if p := cs[i].Message.Row[pad].Text(); strings.Trim(p, "p") != "" || len(p) != 0 && len(p) != 190 {
						t.Errorf("%s has the pad %q", n, p)
					}
					seen[n]++
					done = append(done, Settlement{Token: cs[i].Token})
				}
				all := len(seen) == each*writers
				mu.Unlock()
				if len(done) > 0 {
					if _, err := s.Settle(ctx, done); err != nil {
						t.Error(err)
					}
				}
				if all {
					return
				}
			}
		})
	}
	putting.Wait()
	taking.Wait()
	close(stop)
	altering.Wait()
	for n, times := range seen {
		if times != 1 {
			t.Errorf("%s was handed out %d times", n, times)
		}
	}
}
