package eventstream_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/api/lambda/eventstream"
)

// The one empty message that the format's description works out.
func TestTheEmptyMessageIsTheKnownOne(t *testing.T) {
	if got := hex.EncodeToString(eventstream.Append(nil, nil, nil)); got != "000000100000000005c248eb7d98c8ff" {
		t.Error(got)
	}
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	headers := []eventstream.Header{{Name: ":event-type", Value: "PayloadChunk"}, {Name: "色", Value: ""}}
	data := eventstream.Append([]byte("before"), headers, []byte("payload"))[len("before"):]
	data = eventstream.Append(data, nil, []byte("second"))
	got, payload, rest, err := eventstream.Read(data)
	if err != nil || string(payload) != "payload" {
		t.Fatalf("%q, %v", payload, err)
	}
	if diff := cmp.Diff(headers, got); diff != "" {
		t.Error(diff)
	}
	if _, payload, rest, err = eventstream.Read(rest); err != nil || string(payload) != "second" || len(rest) != 0 {
		t.Errorf("%q, %q, %v", payload, rest, err)
	}
	for i := range data[:20] {
		broken := bytes.Clone(data)
		broken[i] ^= 1
		if _, _, _, err := eventstream.Read(broken); err == nil {
			t.Errorf("byte %d is wrong, and nobody noticed", i)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{})
	f.Add(eventstream.Append(nil, nil, nil))
	f.Add(eventstream.Append(nil, []eventstream.Header{{Name: "a", Value: "b"}}, []byte("c")))
	f.Fuzz(func(t *testing.T, data []byte) {
		headers, payload, rest, err := eventstream.Read(data)
		if err != nil {
			return
		}
		if again := eventstream.Append(nil, headers, payload); !bytes.Equal(again, data[:len(data)-len(rest)]) {
			t.Errorf("%x is read and written as %x", data, again)
		}
	})
}
