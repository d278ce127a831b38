package wire_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

func TestRequestHeadersAreReadAsTheyWereWritten(t *testing.T) {
	for _, want := range []wire.RequestHeader{
		{},
		{Version: wire.Version{Major: 1, Minor: 2}, Service: wire.SQL, Session: wire.NoSession},
		{Service: wire.Endpoint, Session: 7,
			Blobs: []wire.Blob{{Channel: "a", Path: "/tmp/" + strings.Repeat("x", 200), Temporary: true},
				{Channel: "b"}}},
	} {
		b := wire.AppendRequestHeader(nil, want)
		b = wire.Delimited(b, func(b []byte) []byte { return append(b, "message"...) })
		got, message, err := wire.CutRequestHeader(b)
		if err != nil || !cmp.Equal(got, want) || string(message) != "message" {
			t.Errorf("got %+v %q (%v), wanted %+v", got, message, err, want)
		}
	}
}

func TestAnswersAreReadAsTheyWereWritten(t *testing.T) {
	for _, want := range []wire.Answer{
		{Message: []byte{}},
		{Session: 5, Message: bytes.Repeat([]byte("m"), 300), Blobs: []wire.Blob{{Channel: "c", Path: "/p"}}},
	} {
		got, err := wire.ParseAnswer(wire.AppendAnswer(nil, want))
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("got %+v (%v), wanted %+v", got, err, want)
		}
	}
	got, err := wire.ParseAnswer(wire.AppendAnswer(nil,
		wire.Answer{Diagnostic: &wire.Diagnostic{Code: 31, Message: "closed"}}))
	if err != nil || *got.Diagnostic != (wire.Diagnostic{Code: 31, Message: "closed"}) {
		t.Errorf("%+v, %v", got.Diagnostic, err)
	}
}

func TestALengthIsAsLongAsItHasToBe(t *testing.T) {
	for _, n := range []int{0, 127, 128, 1<<14 - 1, 1 << 14, 1 << 21} {
		inner := bytes.Repeat([]byte{9}, n)
		b := wire.Delimited([]byte("before"), func(b []byte) []byte { return append(b, inner...) })
		got, rest, err := wire.CutDelimited(append(b[len("before"):], "behind"...))
		if err != nil || !bytes.Equal(got, inner) || string(rest) != "behind" || string(b[:6]) != "before" {
			t.Errorf("%d bytes: %d bytes, %q behind (%v)", n, len(got), rest, err)
		}
	}
}

func TestVersionsAreOrdered(t *testing.T) {
	for _, c := range []struct {
		a, b wire.Version
		want bool
	}{{wire.Version{Major: 1}, wire.Version{Minor: 9}, true}, {wire.Version{Minor: 2}, wire.Version{Minor: 1}, true},
		{wire.Version{Minor: 1}, wire.Version{Minor: 1}, false},
		{wire.Version{Minor: 9}, wire.Version{Major: 1}, false}} {
		if c.a.Above(c.b) != c.want {
			t.Errorf("%v above %v: %v", c.a, c.b, !c.want)
		}
	}
}

func TestBrokenMessagesAreRefused(t *testing.T) {
	for what, b := range map[string][]byte{"no length": {0xff}, "too short": {5, 1},
		"a group": {3, 0x0b, 0x08, 0x01, 0}, "a broken field": {2, 0x08, 0xff, 0}} {
		if _, err := wire.ParseAnswer(b); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
		if _, _, err := wire.CutRequestHeader(b); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add(wire.AppendAnswer(nil, wire.Answer{Session: 3, Message: []byte("m"), Blobs: []wire.Blob{{Channel: "a"}}}))
	f.Add(wire.AppendAnswer(nil, wire.Answer{Diagnostic: &wire.Diagnostic{Code: 2, Message: "no"}}))
	f.Add(wire.Delimited(wire.AppendRequestHeader(nil, wire.RequestHeader{Service: wire.SQL, Session: 1}),
		func(b []byte) []byte { return b }))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := wire.ParseAnswer(b); err == nil && a.Diagnostic == nil {
			again, err := wire.ParseAnswer(wire.AppendAnswer(nil, a))
			if err != nil || !bytes.Equal(a.Message, again.Message) || a.Session != again.Session {
				t.Fatalf("%+v is read again as %+v (%v)", a, again, err)
			}
		}
		if h, m, err := wire.CutRequestHeader(b); err == nil {
			again, _, err := wire.CutRequestHeader(wire.Delimited(wire.AppendRequestHeader(nil, h),
				func(b []byte) []byte { return append(b, m...) }))
			if err != nil || !cmp.Equal(h, again) {
				t.Fatalf("%+v is read again as %+v (%v)", h, again, err)
			}
		}
	})
}
