package wire

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/net/http2"
)

func TestFramesAreReadAsTheyWereWritten(t *testing.T) {
	buf := AppendFrame(nil, TypeData, FlagEndStream, 7, []byte("abc"))
	buf = AppendRST(buf, 9, 8)
	buf = AppendWindowUpdate(buf, 0, 1<<30)
	buf = AppendGoAway(buf, 11, 2)
	buf = AppendSettings(buf, Setting{SettingMaxStreams, 100}, Setting{SettingEnablePush, 0})
	theirs := http2.NewFramer(nil, bytes.NewReader(buf))
	for rest := buf; len(rest) > 0; {
		for cut := range rest[:min(len(rest), HeaderLen)] {
			if _, n, err := Next(rest[:cut], 100); n != 0 || err != nil {
				t.Fatal(n, err)
			}
		}
		f, n, err := Next(rest, 100)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		rest = rest[n:]
		want, err := theirs.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if h := want.Header(); uint8(h.Type) != f.Type || uint8(h.Flags) != f.Flags || h.StreamID != f.Stream ||
			int(h.Length) != len(f.Payload) {
			t.Errorf("%+v, want %v", f, h)
		}
	}
	var settings []Setting
	f, _, _ := Next(AppendSettings(nil, Setting{SettingMaxStreams, 100}, Setting{SettingEnablePush, 0}), 100)
	EachSetting(f.Payload, func(s Setting) bool { settings = append(settings, s); return len(settings) < 2 })
	if len(settings) != 2 || settings[0] != (Setting{SettingMaxStreams, 100}) {
		t.Error(settings)
	}
}

func TestFramesThatAreTooLargeAreRefusedByTheirHeader(t *testing.T) {
	if _, _, err := Next(AppendHeader(nil, 101, TypeData, 0, 1), 100); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestPaddingIsTakenOff(t *testing.T) {
	for _, c := range []struct {
		f    Frame
		want string
		err  error
	}{
		{Frame{Type: TypeData, Payload: []byte("abc")}, "abc", nil},
		{Frame{Type: TypeData, Flags: FlagPadded, Payload: []byte("\x02abc\x00\x00")}, "abc", nil},
		{Frame{Type: TypeData, Flags: FlagPadded, Payload: []byte("\x00")}, "", nil},
		{Frame{Type: TypeData, Flags: FlagPadded, Payload: []byte("\x03ab")}, "", ErrPadding},
		{Frame{Type: TypeData, Flags: FlagPadded}, "", ErrPadding},
		{Frame{Type: TypeHeaders, Flags: FlagPriority, Payload: []byte("12345abc")}, "abc", nil},
		{Frame{Type: TypeHeaders, Flags: FlagPriority | FlagPadded, Payload: []byte("\x0112345abc\x00")}, "abc", nil},
		{Frame{Type: TypeHeaders, Flags: FlagPriority, Payload: []byte("1234")}, "", ErrPadding},
	} {
		if got, err := c.f.Content(); string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%+v: %q, %v", c.f, got, err)
		}
	}
}

func FuzzNext(f *testing.F) {
	f.Add(AppendFrame(nil, TypeHeaders, FlagPadded|FlagPriority, 3, []byte("\x01abcdefgh\x00")))
	f.Add(AppendSettings(nil, Setting{SettingMaxStreams, 1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, n, err := Next(data, DefaultFrameSize)
		if n == 0 || err != nil {
			return
		}
		if again := AppendFrame(nil, frame.Type, frame.Flags, frame.Stream, frame.Payload); !bytes.Equal(again[:5],
			data[:5]) || len(again) != n {
			t.Errorf("% x is not % x", again, data[:n])
		}
		if content, err := frame.Content(); err == nil && len(content) > len(frame.Payload) {
			t.Error("the content is longer than the payload")
		}
		EachSetting(frame.Payload, func(Setting) bool { return true })
	})
}
