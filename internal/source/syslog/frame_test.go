package syslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// frames reads all that a stream has.
func frames(t *testing.T, in io.Reader, limit int) (texts []string, cuts int, err error) {
	t.Helper()
	f := newFramer(in, limit)
	for {
		text, long, err := f.next()
		if err != nil {
			return texts, cuts, err
		}
		if len(text) > limit {
			t.Fatalf("a message of %d bytes, and %d is the bound", len(text), limit)
		}
		if long {
			cuts++
		}
		texts = append(texts, string(text))
	}
}

func TestAStreamIsCutByCountsAndByLines(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		cuts int
		end  error
	}{
		{"<1>one\n<2>two\r\n<3>three", []string{"<1>one", "<2>two", "<3>three"}, 0, io.EOF},
		{"6 <1>one7 <2>two\n<3>three\n", []string{"<1>one", "<2>two", "<3>three"}, 0, io.EOF},
		{"8 <1>o\nne!\n\n", []string{"<1>o\nne!"}, 0, io.EOF},
		{"7 seas\n12\n4 <1>\n", []string{"7 seas", "12", "<1>"}, 0, io.EOF},
		{"1234567890 <1>one\n", []string{"1234567890 <1>one"}, 0, io.EOF},
		{"<1>" + strings.Repeat("x", 60_000) + "\n<2>two\n", []string{"<1>" + strings.Repeat("x", 17), "<2>two"}, 1,
			io.EOF},
		{"30 <1>" + strings.Repeat("y", 27) + "6 <2>two", []string{"<1>" + strings.Repeat("y", 17), "<2>two"}, 1,
			io.EOF},
		{"20 <1>" + strings.Repeat("z", 17), []string{"<1>" + strings.Repeat("z", 17)}, 0, io.EOF},
		{"<1>" + strings.Repeat("z", 17) + "\n", []string{"<1>" + strings.Repeat("z", 17)}, 0, io.EOF},
		{"9 <1>one", nil, 0, io.ErrUnexpectedEOF},
		{"99 <1>" + strings.Repeat("y", 27), nil, 0, io.ErrUnexpectedEOF},
		{"\n\n \x00", nil, 0, io.EOF},
	} {
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(c.in),
			"by bytes": iotest.OneByteReader(strings.NewReader(c.in))} {
			got, cuts, err := frames(t, in, 20)
			if !slices.Equal(got, c.want) || cuts != c.cuts || !errors.Is(err, c.end) {
				t.Errorf("%.40q %s: %q, %d cut, %v", c.in, name, got, cuts, err)
			}
		}
	}
}

// FuzzFraming holds that no stream makes a message that is too long, and that messages come out of a stream as they
// went in, however the stream is cut into reads.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("7 <1>one\n<2>two\n99 <3>"), uint8(20))
	f.Add([]byte("<13>1 - - - - - - x\x00\n5 <1>"), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		most := int(limit) + 1
		whole, cuts, err := frames(t, bytes.NewReader(in), most)
		pieces, again, perr := frames(t, iotest.OneByteReader(bytes.NewReader(in)), most)
		if !slices.Equal(whole, pieces) || cuts != again || !errors.Is(perr, err) {
			t.Fatalf("%q, %d, %v, and by bytes %q, %d, %v", whole, cuts, err, pieces, again, perr)
		}
		var counted bytes.Buffer
		var want []string
		for _, text := range whole {
			text = "<1>" + text
			fmt.Fprintf(&counted, "%d %s", len(text), text)
			want = append(want, text)
		}
		if got, _, err := frames(t, &counted, most+3); !slices.Equal(got, want) || !errors.Is(err, io.EOF) {
			t.Fatalf("%q became %q, %v", want, got, err)
		}
	})
}
