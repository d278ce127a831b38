package remote

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Each method of a shard has a call, unless it asks nobody.
func TestEveryMethodOfAShardIsAskedOfTheOtherNode(t *testing.T) {
	here := []string{"Resolve", "NewOwner", "Noted", "Configured", "RenameQueue"} // the last is RenameNoted
	var calls []string
	for _, s := range streams {
		if slices.Contains(calls, s.StreamName) {
			t.Errorf("two calls have the name %s", s.StreamName)
		}
		calls = append(calls, s.StreamName)
	}
	for m := range reflect.TypeFor[queue.Shard]().Methods() {
		if !slices.Contains(here, m.Name) && !slices.Contains(calls, m.Name) {
			t.Errorf("%s has no call", m.Name)
		}
	}
}

func TestAMessageComesWholeFromTheOtherEnd(t *testing.T) {
	m := message.Message{ID: message.NewID(), Body: []byte{0, 1}, Row: []message.Value{message.Null(), message.Int(1)},
		Attributes: message.Attributes{{Name: "a", Value: message.String("x")}}, Key: "k", Dedup: "d",
		Time: time.UnixMicro(1).UTC(), NotBefore: time.UnixMicro(2).UTC(), Expires: time.UnixMicro(3).UTC(),
		Death: &message.Death{Queue: "q", Step: "s", Reason: "r", Attempts: 2, Time: time.UnixMicro(4).UTC()},
		Only:  "o", Origin: message.Origin{Source: "f", Offset: 1, Part: 2, Mark: 3}, Hops: message.Hops{1, 2, 3}}
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the test leaves %s out", v.Type().Field(i).Name)
		}
	}
	for _, m := range []message.Message{m, {}} {
		b, err := codec{}.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		var got message.Message
		if err := (codec{}).Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v comes as %+v, %v", m, got, err)
		}
	}
}

func TestAnErrorKeepsWhatItIs(t *testing.T) {
	for _, err := range []error{&message.ColumnError{Column: "a", Reason: "is too long", Member: true},
		&message.AttributeError{Name: "a", Reason: errors.New("why")}, &queue.CopiesError{Copies: 2, Limit: 1},
		&queue.FullError{Name: queue.Name{Namespace: "a", Name: "b"}, Bound: "bytes", Limit: 1},
		&journal.DamageError{Where: "w", What: "x", Hint: "h", Record: journal.Address{Position: 1}}} {
		b, failed := codec{}.Marshal(failureOf(err))
		if failed != nil {
			t.Fatal(failed)
		}
		f := &failure{}
		if failed := (codec{}).Unmarshal(b, f); failed != nil {
			t.Fatal(failed)
		}
		got := reflect.New(reflect.TypeOf(err))
		if !errors.As(f.err(), got.Interface()) || !reflect.DeepEqual(got.Elem().Interface(), err) ||
			f.Error() != err.Error() {
			t.Errorf("%#v comes as %#v", err, f)
		}
	}
}

// What a node of another version or a broken one sends does no harm.
func FuzzFrames(f *testing.F) {
	for _, v := range []any{request[claimArgs]{Args: claimArgs{From: []fromArgs{{Where: where{Text: "a = 1"}}}}},
		answer[claimed]{Result: claimed{Claims: make([]queue.Claim, 1), Tables: tables{Of: []int{1}}}},
		answer[none]{Error: failureOf(queue.ErrExists)}} {
		b, err := codec{}.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var q request[claimArgs]
		if (codec{}).Unmarshal(b, &q) == nil {
			for _, from := range q.Args.From {
				if e, err := from.Where.parse(); err == nil && e != nil && strings.TrimSpace(e.String()) == "" {
					t.Errorf("%q is a condition", from.Where.Text)
				}
			}
		}
		var a answer[claimed]
		if (codec{}).Unmarshal(b, &a) == nil {
			for i := range a.Result.Claims {
				a.Result.Tables.of(i)
			}
			if err := a.Error.err(); err != nil && errors.Is(err, queue.ErrExists) && len(a.Error.Kinds) == 0 &&
				a.Error.Different == nil {
				t.Error("an error that nobody named")
			}
		}
	})
}
