package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

const most = 1 << 16

func request(info wire.RequestInfo, slot uint16, payload string) []byte {
	b := wire.BeginRequest(nil, info, slot)
	b = append(b, payload...)
	wire.EndRequest(b, 0)
	return b
}

func TestRequestsAreReadAsTheyWereWritten(t *testing.T) {
	b := request(wire.RequestPayload, 0xabcd, "payload")
	b = append(b, 5, 0, 0) // whoever only asks whether somebody is there
	b = append(b, request(wire.RequestByeOK, 3, "")...)
	r := wire.NewReader(bytes.NewReader(b), most)
	for _, want := range []wire.Request{{Info: wire.RequestPayload, Slot: 0xabcd, Payload: []byte("payload")},
		{Info: wire.RequestByeOK, Slot: 3, Payload: []byte{}}} {
		got, err := r.Request()
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("got %+v (%v), wanted %+v", got, err, want)
		}
	}
	if _, err := r.Request(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestResponsesAreReadAsTheyWereWritten(t *testing.T) {
	all := []wire.Response{
		{Info: wire.ResponsePayload, Slot: 1, Payload: []byte("x")},
		{Info: wire.ResultSetHello, Slot: 2, Payload: []byte("name")},
		{Info: wire.ResultSetPayload, Slot: 0xffff, Writer: 7, Payload: bytes.Repeat([]byte{1}, most)},
		{Info: wire.ResultSetPayload, Slot: 2, Writer: 255, Payload: []byte{}},
		{Info: wire.ResultSetBye, Slot: 2, Payload: []byte{}},
		{Info: wire.ResponseBodyHead, Slot: 3, Payload: []byte("head")},
		{Info: wire.ResponseGoodbyeOK, Payload: []byte{}},
	}
	var b []byte
	for _, f := range all {
		b = wire.AppendResponse(b, f)
	}
	r := wire.NewReader(bytes.NewReader(b), most)
	for _, want := range all {
		got, err := r.Response()
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("got %.80v (%v), wanted %.80v", got, err, want)
		}
	}
	if _, err := r.Response(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestFramesThatAreNoneAreRefused(t *testing.T) {
	huge := wire.AppendResponse(nil, wire.Response{Info: wire.ResponsePayload, Payload: make([]byte, most+1)})
	for what, b := range map[string][]byte{"another kind": {9, 0, 0, 0, 0, 0, 0}, "nothing": {0, 0, 0, 0, 0, 0, 0},
		"too long": huge} {
		if _, err := wire.NewReader(bytes.NewReader(b), most).Response(); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	whole := wire.AppendResponse(nil, wire.Response{Info: wire.ResultSetPayload, Payload: []byte("payload")})
	for n := 1; n < len(whole); n++ {
		if _, err := wire.NewReader(bytes.NewReader(whole[:n]), most).Response(); err != io.ErrUnexpectedEOF {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestAFrameDoesNotAllocateWhatItOnlySays(t *testing.T) {
	b := binary.LittleEndian.AppendUint32([]byte{byte(wire.ResponsePayload), 0, 0}, 1<<30)
	if _, err := wire.NewReader(bytes.NewReader(append(b, "little"...)),
		1<<31-1).Response(); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
	long := bytes.Repeat([]byte("long"), 1<<20)
	f, err := wire.NewReader(bytes.NewReader(wire.AppendResponse(nil,
		wire.Response{Info: wire.ResponsePayload, Payload: long})), 1<<30).Response()
	if err != nil || !bytes.Equal(f.Payload, long) {
		t.Errorf("a long one: %d bytes, %v", len(f.Payload), err)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(request(wire.RequestPayload, 1, "payload"))
	f.Add([]byte{5, 0, 0, 5, 0, 0, 4, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(bytes.NewReader(b), most)
		for {
			got, err := r.Request()
			if err != nil {
				return
			}
			again, err := wire.NewReader(bytes.NewReader(request(got.Info, got.Slot, string(got.Payload))),
				most).Request()
			if err != nil || !cmp.Equal(got, again) {
				t.Fatalf("%+v is read again as %+v (%v)", got, again, err)
			}
		}
	})
}

func FuzzResponse(f *testing.F) {
	f.Add(wire.AppendResponse(nil, wire.Response{Info: wire.ResultSetPayload, Slot: 7, Writer: 1,
		Payload: []byte("rows")}))
	f.Add(wire.AppendResponse(nil, wire.Response{Info: wire.ResponsePayload, Payload: []byte("answer")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(bytes.NewReader(b), most)
		for {
			got, err := r.Response()
			if err != nil {
				return
			}
			again, err := wire.NewReader(bytes.NewReader(wire.AppendResponse(nil, got)), most).Response()
			if err != nil || !cmp.Equal(got, again) {
				t.Fatalf("%+v is read again as %+v (%v)", got, again, err)
			}
		}
	})
}
