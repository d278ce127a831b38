package message_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

var comparable = cmp.Comparer(func(a, b value.Value) bool { return a == b })

func params() message.Params {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	big, err := value.ParseDecimal("-99999999999999999999999999999999999999")
	if err != nil {
		panic(err)
	}
	values := []value.Value{
		{}, value.OfBool(true), value.OfBool(false), value.OfInt4(0), value.OfInt4(-5), value.OfInt8(1 << 60),
		value.OfFloat4(0), value.OfFloat4(1.5), value.OfFloat8(-0.25),
		value.OfDecimal(0, 0), value.OfDecimal(-129, 3), value.OfDecimal(128, -20), big, value.OfText(""),
		value.OfText("text"), value.OfBytes(nil), value.OfBytes([]byte{0}),
		value.OfBits([]byte{5}, 3), value.OfDate(at), value.OfDays(0), value.OfTimeOfDay(at), value.OfTimePoint(at),
		value.OfSeconds(0, 0), value.OfTimeOfDayWithTimeZone(at),
		value.OfTimePointWithTimeZone(at), value.OfBlobFile("c1"), value.OfClobFile("c2"),
	}
	all := message.Params{Values: values}
	for i := range values {
		all.Holders = append(all.Holders, message.Placeholder{Name: string(rune('a' + i))})
	}
	return all
}

func some(from, to int) message.Params {
	ps := params()
	return message.Params{Holders: ps.Holders[from:to], Values: ps.Values[from:to]}
}

func requests() []message.Request {
	tx := message.AppendHandle(nil, 3, 1<<63)
	st := message.AppendHandle(nil, 9, 1)
	return []message.Request{
		{Kind: message.Begin, Options: message.Options{Type: 2, Priority: 3, Label: "label", DDL: true,
			Preserve: []string{"a", "b"}, Include: []string{"c"}, Exclude: []string{"d"}}},
		{Kind: message.Prepare, SQL: "SELECT", Placeholders: []message.Placeholder{{Name: "a", Type: value.Int4},
			{Name: "b", Type: value.Character}}},
		{Kind: message.Statement, Tx: tx, SQL: "INSERT"},
		{Kind: message.Query, Tx: tx, SQL: "SELECT"},
		{Kind: message.PreparedStatement, Tx: tx, Stmt: st, Params: params()},
		{Kind: message.PreparedQuery, Tx: tx, Stmt: st, Params: some(0, 3)},
		{Kind: message.Commit, Tx: tx, Until: 30, AutoDispose: true},
		{Kind: message.Rollback, Tx: tx},
		{Kind: message.DisposeTx, Tx: tx},
		{Kind: message.DisposeStatement, Stmt: st},
		{Kind: message.ErrorInfo, Tx: tx},
		{Kind: message.TxStatus, Tx: tx},
		{Kind: message.Explain, Stmt: st, Params: some(3, 5)},
		{Kind: message.ExplainText, SQL: "SELECT"},
		{Kind: message.DescribeTable, Table: "t"},
		{Kind: message.ListTables},
		{Kind: message.SearchPath},
		{Kind: message.LargeObject, Tx: tx, Reference: value.Reference{Provider: 1, Object: 2, Tag: 3}},
	}
}

func TestRequestsAreReadAsTheyWereWritten(t *testing.T) {
	for _, want := range requests() {
		want.Version = wire.SQLVersion
		sent := want
		sent.Channels = []string{"c1", "c2"}
		got, err := message.ParseRequest(sent.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(&want, got, comparable); d != "" {
			t.Errorf("kind %d: %s", want.Kind, d)
		}
	}
}

func TestTheOptionOfNewerClientsIsUnderstood(t *testing.T) {
	b := wire.Nested(nil, 8, func(b []byte) []byte {
		b = wire.Always(b, 1, message.AppendHandle(nil, 1, 2))
		return wire.Nested(b, 11, func(b []byte) []byte { return wire.Bool(wire.Uint(b, 11, 40), 12, true) })
	})
	if r, err := message.ParseRequest(b); err != nil || r.Until != 40 || !r.AutoDispose {
		t.Errorf("%+v, %v", r, err)
	}
}

func answers() []message.Answer {
	columns := []message.Column{
		{Name: "a", Type: value.Int4, HasNullable: true},
		{Name: "b", Type: value.Character, Length: 5, HasVarying: true, Varying: true, HasNullable: true,
			Nullable: true, Description: "text"},
		{Name: "c", Type: value.Decimal, Precision: 10, HasScale: true},
		{Name: "d", Type: value.Decimal, AnyPrec: true, AnyScale: true},
		{Name: "e", Type: value.Octet, AnyLength: true},
	}
	failed := &message.Error{Code: 4, Detail: "detail", Supplement: "more"}
	all := []message.Answer{
		{Kind: message.ResultOnly},
		{Kind: message.BeginAnswer, Handle: message.AppendHandle(nil, 5, 6), TxID: "TID-1"},
		{Kind: message.PrepareAnswer, Handle: message.AppendHandle(nil, 7, 1)},
		{Kind: message.QueryHead, Name: "rs", Columns: columns},
		{Kind: message.ExplainAnswer, Format: "json", Version: 1, Contents: "{}", Columns: columns[:1]},
		{Kind: message.DescribeAnswer, Database: "d", Schema: "s", Table: "t", Columns: columns,
			Key: []string{"a", "b"}, Describe: "what"},
		{Kind: message.ListAnswer, Names: [][]string{{"t"}, {"s", "u"}}},
		{Kind: message.PathAnswer, Names: [][]string{{"public"}}},
		{Kind: message.ErrorInfoAnswer, Error: failed},
		{Kind: message.ErrorInfoAnswer, Absent: true},
		{Kind: message.DisposeAnswer},
		{Kind: message.ExecuteAnswer, Inserted: 1, Updated: 2, Merged: 3, Deleted: 4},
		{Kind: message.LargeObjectAnswer, Name: "channel"},
		{Kind: message.StatusAnswer, Status: 10},
	}
	for _, k := range []message.AnswerKind{
		message.ResultOnly, message.BeginAnswer, message.PrepareAnswer, message.ExplainAnswer, message.DescribeAnswer,
		message.ListAnswer, message.PathAnswer, message.DisposeAnswer,
		message.ExecuteAnswer, message.LargeObjectAnswer, message.StatusAnswer,
	} {
		all = append(all, message.Answer{Kind: k, Error: failed})
	}
	return all
}

func TestAnswersAreReadAsTheyWereWritten(t *testing.T) {
	for _, want := range answers() {
		sent := want
		sent.Absent = false
		got, err := message.ParseAnswer(sent.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(&want, got); d != "" {
			t.Errorf("kind %d: %s", want.Kind, d)
		}
	}
	if _, err := message.ParseAnswer(nil); err == nil {
		t.Error("an empty answer is taken")
	}
}

func TestEndpointMessagesAreReadAsTheyWereWritten(t *testing.T) {
	for _, want := range []message.EndpointRequest{
		{Version: wire.EndpointVersion, Handshake: &message.Handshake{Label: "l", App: "a", Encrypted: "secret",
			ResultSets: 16, Stream: true}},
		{Version: wire.EndpointVersion, Handshake: &message.Handshake{Token: "token", Stream: true}},
		{Version: wire.EndpointVersion, Cancel: true},
		{Version: wire.EndpointVersion, EncryptionKey: true},
	} {
		got, err := message.ParseEndpointRequest(want.Append(nil))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Error(err, d)
		}
	}
	for _, want := range []message.EndpointAnswer{{Session: 7, User: "u"}, {Key: "pem"},
		{Error: &wire.Diagnostic{Code: 11, Message: "no"}}} {
		got, err := message.ParseEndpointAnswer(want.Append(nil))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Error(err, d)
		}
	}
	for _, want := range []message.CoreRequest{{Version: wire.CoreVersion, Renew: true}, {Renew: true, Millis: 5},
		{Shutdown: true}, {Shutdown: true, Force: true}} {
		got, err := message.ParseCoreRequest(want.Append(nil))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Error(err, d)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	for _, r := range requests() {
		r.Channels = []string{"c1", "c2"}
		f.Add(r.Append(nil))
	}
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := message.ParseRequest(b)
		if err != nil || r.Kind == 0 {
			return
		}
		for _, v := range r.Params.Values {
			if k := v.Type(); k == value.Blob || k == value.Clob {
				r.Channels = append(r.Channels, v.Text())
			}
		}
		if _, err := message.ParseRequest(r.Append(nil)); err != nil {
			t.Fatalf("%+v cannot be read again: %v", r, err)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	for _, a := range answers() {
		f.Add(a.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kept := bytes.Clone(b)
		a, err := message.ParseAnswer(b)
		if err != nil {
			return
		}
		first := a.Append(nil)
		clear(b) // an answer keeps nothing of what it was read from
		if !bytes.Equal(first, a.Append(nil)) {
			t.Fatalf("% x is kept", kept)
		}
		if _, err := message.ParseAnswer(first); err != nil {
			t.Fatalf("%+v cannot be read again: %v", a, err)
		}
	})
}

func FuzzParseEndpoint(f *testing.F) {
	f.Add(message.EndpointRequest{Handshake: &message.Handshake{Label: "l", Token: "t", Stream: true}}.Append(nil))
	f.Add(message.EndpointAnswer{Session: 1, User: "u"}.Append(nil))
	f.Add(message.CoreRequest{Renew: true, Millis: 3}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := message.ParseEndpointRequest(b); err == nil {
			if _, err := message.ParseEndpointRequest(r.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		if a, err := message.ParseEndpointAnswer(b); err == nil {
			if _, err := message.ParseEndpointAnswer(a.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := message.ParseCoreRequest(b); err == nil {
			if _, err := message.ParseCoreRequest(r.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
