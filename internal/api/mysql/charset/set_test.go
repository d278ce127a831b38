package charset

import (
	"errors"
	"testing"
	"unicode/utf8"
)

func named(t testing.TB, name string) *Set {
	t.Helper()
	s, ok := Named(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return s
}

// TestLettersAreMySQLs has letters on which tables differ, and what MySQL's manual says of them.
func TestLettersAreMySQLs(t *testing.T) {
	for _, c := range []struct{ set, bytes, text, back string }{
		{"sjis", "\x93\xfa\x96\x7b\x8c\xea", "日本語", ""},
		{"sjis", "\x83\x5c\x95\x5c\x8f\x5c", "ソ表十", ""}, // the second byte is a backslash
		{"sjis", "\xb1\xb2", "ｱｲ", ""},
		{"sjis", "a\x5cb", "a\\b", "a\x81\x5fb"},
		{"sjis", "\x81\x60\x81\x61\x81\x7c\x81\x91\x81\x92\x81\xca", "〜‖−¢£¬", ""},
		{"cp932", "\x81\x60\x81\x61\x81\x7c\x81\x91\x81\x92\x81\xca\x81\x5f", "～∥－￠￡￢＼", ""},
		{"cp932", "\x87\x40\xfb\xfc", "①髙", ""},
		{"cp932", "a\x5cb", "a\\b", ""},
		{"ujis", "\xc6\xfc\xcb\xdc\xb8\xec\x8e\xb1", "日本語ｱ", ""},
		{"ujis", "\x8f\xb0\xa1", "丂", ""},
		{"ujis", "\xa1\xc1\xa1\xc2\xa1\xdd", "〜‖−", ""},
		{"eucjpms", "\xa1\xc1\xa1\xc2\xa1\xdd\xad\xa1", "～∥－①", ""},
		{"gbk", "\xc4\xe3\xba\xc3\x81\x5c", "你好乗", ""},
		{"gb2312", "\xc4\xe3\xba\xc3", "你好", ""},
		{"gb18030", "\xc4\xe3\xba\xc3\x94\x39\xda\x33", "你好💩", ""},
		{"big5", "\xa7\x41\xa6\x6e\xa5\x5c", "你好功", ""},
		{"euckr", "\xbe\xc8\xb3\xe7", "안녕", ""},
		{"cp1251", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет", ""},
		{"koi8r", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет", ""},
		{"latin1", "caf\xe9 \x80\x93", "café €“", ""},
		{"latin1", "\x81\x8d\x8f\x90\x9d", "\u0081\u008d\u008f\u0090\u009d", ""},
		{"latin2", "\xa3\xf3d\xbc", "Łódź", ""},
		{"ascii", "abc", "abc", ""},
	} {
		s := named(t, c.set)
		text, err := s.Decode([]byte(c.bytes))
		if err != nil || string(text) != c.text {
			t.Errorf("%s: % x is read as %q, %v, want %q", c.set, c.bytes, text, err, c.text)
		}
		if c.back == "" {
			c.back = c.bytes
		}
		if got := s.Encode([]byte(c.text)); string(got) != c.back {
			t.Errorf("%s: %q is written as % x, want % x", c.set, c.text, got, c.back)
		}
	}
}

func TestWhatASetLacksIsAQuestionMark(t *testing.T) {
	for _, c := range []struct{ set, text, want string }{
		{"latin1", "é飛🚚", "\xe9??"}, {"sjis", "①飛", "?\x94\xf2"}, {"cp932", "〜é", "??"}, {"ascii", "é", "?"},
		{"sjis", "～", "?"}, {"cp1251", "a\xffb", "a?b"},
	} {
		if got := named(t, c.set).Encode([]byte(c.text)); string(got) != c.want {
			t.Errorf("%s: %q is written as %q, want %q", c.set, c.text, got, c.want)
		}
	}
}

func TestWhatIsNoTextIsRefused(t *testing.T) {
	for set, text := range map[string]string{"sjis": "a\x81", "cp932": "\xff", "ujis": "\xa4", "gbk": "x\x80y",
		"big5": "\xa4", "euckr": "\xb0\x20", "ascii": "\xe9", "gb2312": "\x81\x40"} {
		var invalid *InvalidError
		if got, err := named(t, set).Decode([]byte(text)); !errors.As(err, &invalid) || invalid.Set != set {
			t.Errorf("%s: %q is read as %q, %v", set, text, got, err)
		}
	}
	for _, name := range []string{"utf8mb4", "binary", "ucs2", "hp8", "nothing", ""} {
		if _, ok := Named(name); ok {
			t.Errorf("there is a set %q", name)
		}
	}
}

// TestEveryByteComesBack: what programs keep in texts of one byte a letter, they get back.
func TestEveryByteComesBack(t *testing.T) {
	for _, name := range []string{"latin1", "cp1251", "koi8r", "cp850", "cp866", "cp1256"} {
		s := named(t, name)
		for b := range 256 {
			text, err := s.Decode([]byte{byte(b)})
			if err != nil {
				t.Errorf("%s: byte %#x: %v", name, b, err)
			} else if got := s.Encode(text); len(got) != 1 || got[0] != byte(b) {
				t.Errorf("%s: byte %#x comes back as % x", name, b, got)
			}
		}
	}
}

// TestEveryLetterComesBack reads each letter of each set by itself: what is read is written as something that is read
// as the same.
func TestEveryLetterComesBack(t *testing.T) {
	for name, s := range sets {
		read := 0
		letters(s.MaxBytes, func(b []byte) {
			text, err := s.Decode(b)
			if err != nil {
				return
			}
			read++
			if again, err := s.Decode(s.Encode(text)); err != nil || string(again) != string(text) {
				t.Errorf("%s: % x is read as %q, and then as %q, %v", name, b, text, again, err)
			}
		})
		if read < 128 {
			t.Errorf("%s: only %d letters are read", name, read)
		}
	}
}

// letters gives every sequence of one and of two bytes and, where letters have more, those behind the byte that begins
// JIS X 0212 in EUC-JP or with the numbers that GB 18030 has in the middle of its letters of four.
func letters(most int, each func([]byte)) {
	for first := range 256 {
		each([]byte{byte(first)})
		if most == 1 || first < utf8.RuneSelf {
			continue
		}
		for second := range 256 {
			each([]byte{byte(first), byte(second)})
			switch {
			case most == 3:
				each([]byte{0x8F, byte(first), byte(second)})
			case most == 4 && second >= '0' && second <= '9':
				for third := 0x81; third < 0xFF; third++ {
					for fourth := '0'; fourth <= '9'; fourth++ {
						each([]byte{byte(first), byte(second), byte(third), byte(fourth)})
					}
				}
			}
		}
	}
}

// FuzzSets reads anything in every set: what is read is UTF-8, and what is written of it is read as the same.
func FuzzSets(f *testing.F) {
	f.Add([]byte("\x83\x5c'abc\x81\x5f"))
	f.Add([]byte("caf\xe9"))
	f.Add([]byte("\x8f\xb0\xa1\x94\x39\xda\x33"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, s := range sets {
			text, err := s.Decode(b)
			if err != nil {
				continue
			}
			if !utf8.Valid(text) {
				t.Errorf("%s: % x is read as % x", name, b, text)
			}
			again, err := s.Decode(s.Encode(text))
			if err != nil || string(again) != string(text) {
				t.Errorf("%s: % x is read as %q, and then as %q, %v", name, b, text, again, err)
			}
		}
	})
}
