package javascript

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"
)

func FuzzFrames(f *testing.F) {
	q := request{time: time.Second, functions: []Function{{"f", "code"}}, messages: []Message{
		{Data: []byte("data"), Attributes: map[string]string{"a": "b"}, ID: "i", Key: "k",
			Time: time.UnixMicro(5).UTC()}, {Time: time.UnixMicro(-1).UTC()},
	}}
	f.Add(q.append(nil))
	for _, a := range []answer{
		{kind: isMessage, data: []byte("data"), attributes: map[string]string{"a": "b"}}, {kind: isDropped},
		{kind: isFailed, function: "f", reason: "r"},
	} {
		f.Add(a.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if q, err := readRequest(b); err == nil {
			again, err := readRequest(q.append(nil))
			if err != nil || !reflect.DeepEqual(q, again) {
				t.Errorf("%+v is read as %+v, %v", q, again, err)
			}
		}
		if a, err := readAnswer(b); err == nil {
			again, err := readAnswer(a.append(nil))
			if err != nil || !reflect.DeepEqual(a, again) {
				t.Errorf("%+v is read as %+v, %v", a, again, err)
			}
		}
		if got, err := readFrame(bytes.NewReader(b)); err == nil && len(got) > len(b) {
			t.Errorf("%d bytes of %d", len(got), len(b))
		}
	})
}

func TestAFrameIsBounded(t *testing.T) {
	var out bytes.Buffer
	if err := writeFrame(&out, make([]byte, frameHead+maxFrame+1)); !errors.Is(err, ErrTooLarge) || out.Len() > 0 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
	if _, err := readFrame(bytes.NewReader([]byte{0xff, 0, 0, 0})); !errors.Is(err, errFrame) {
		t.Error(err)
	}
}
