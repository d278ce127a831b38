package lines

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// cutAll reads a stream to its end, skipping lines that are too long.
func cutAll(t interface{ Fatalf(string, ...any) }, r *Reader) (texts []string, offsets []int64, long int) {
	for {
		l, err := r.Next()
		var tooLong *TooLongError
		switch {
		case errors.Is(err, io.EOF):
			if l, ok := r.Last(); ok {
				texts, offsets = append(texts, string(l.Text)), append(offsets, l.Offset)
			}
			return texts, offsets, long
		case errors.As(err, &tooLong):
			long++
			continue
		case err != nil:
			t.Fatalf("Next: %v", err)
		}
		texts, offsets = append(texts, string(l.Text)), append(offsets, l.Offset)
	}
}

func TestLinesAreCutAtTheirEnds(t *testing.T) {
	for name, c := range map[string]struct {
		in      string
		texts   []string
		offsets []int64
	}{
		"nothing":            {"", nil, nil},
		"one":                {"a\n", []string{"a"}, []int64{0}},
		"unfinished":         {"a\nb", []string{"a", "b"}, []int64{0, 2}},
		"empty lines":        {"\n\na\n", []string{"", "", "a"}, []int64{0, 1, 2}},
		"carriage returns":   {"a\r\nb\r\n", []string{"a", "b"}, []int64{0, 3}},
		"return within":      {"a\rb\n", []string{"a\rb"}, []int64{0}},
		"only a return":      {"\r\n", []string{""}, []int64{0}},
		"byte order mark":    {"\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}, []int64{3, 5}},
		"mark and no end":    {"\ufeffa", []string{"a"}, []int64{3}},
		"a mark alone":       {"\ufeff", nil, nil},
		"half a mark":        {"\xef\xbb", []string{"\xef\xbb"}, []int64{0}},
		"almost a mark":      {"\xef\xbb\n", []string{"\xef\xbb"}, []int64{0}},
		"bytes are not text": {"\xff\x00\n", []string{"\xff\x00"}, []int64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, src := range map[string]io.Reader{
				"whole":        strings.NewReader(c.in),
				"byte by byte": iotest.OneByteReader(strings.NewReader(c.in)),
				"with the end": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				texts, offsets, _ := cutAll(t, NewReader(src, Options{}))
				if !slices.Equal(texts, c.texts) || !slices.Equal(offsets, c.offsets) {
					t.Errorf("%s: got %q at %v, want %q at %v", kind, texts, offsets, c.texts, c.offsets)
				}
			}
		})
	}
}

func TestALineThatIsTooLongIsNamedAndTheNextOneIsRead(t *testing.T) {
	for _, length := range []int{11, 12, 13, 100, 200_000} {
		in := "first\n" + strings.Repeat("x", length) + "\nthird\n"
		r := NewReader(strings.NewReader(in), Options{Max: 10})
		if l, err := r.Next(); err != nil || string(l.Text) != "first" {
			t.Fatalf("%q, %v", l.Text, err)
		}
		_, err := r.Next()
		var long *TooLongError
		if !errors.As(err, &long) || long.Number != 2 || long.Offset != 6 || long.Limit != 10 {
			t.Fatalf("length %d: error is %v", length, err)
		}
		l, err := r.Next()
		if err != nil || string(l.Text) != "third" || l.Number != 3 || l.Offset != int64(7+length) {
			t.Fatalf("length %d: after it: %q number %d at %d, %v", length, l.Text, l.Number, l.Offset, err)
		}
	}
}

func TestALineOfExactlyTheLimitIsTaken(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", ""} {
		r := NewReader(iotest.OneByteReader(strings.NewReader("0123456789"+end)), Options{Max: 10})
		texts, _, long := cutAll(t, r)
		if long != 0 || !slices.Equal(texts, []string{"0123456789"}) {
			t.Errorf("end %q: got %q, %d too long", end, texts, long)
		}
	}
}

func TestAnUnfinishedLineThatIsTooLongIsNotDelivered(t *testing.T) {
	texts, _, long := cutAll(t, NewReader(strings.NewReader("a\n"+strings.Repeat("x", 50)), Options{Max: 10}))
	if long != 1 || !slices.Equal(texts, []string{"a"}) {
		t.Errorf("got %q, %d too long", texts, long)
	}
}

// growing is a stream that has an end for now.
type growing struct{ bytes.Buffer }

func TestReadingGoesOnWhenTheStreamHasGrown(t *testing.T) {
	var g growing
	r := NewReader(&g, Options{Offset: 100})
	g.WriteString("a\nun")
	if l, err := r.Next(); err != nil || string(l.Text) != "a" || l.Offset != 100 || l.End != 102 {
		t.Fatalf("%+v, %v", l, err)
	}
	for range 3 {
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("at the end for now: %v", err)
		}
	}
	g.WriteString("finished\nb\n")
	if l, err := r.Next(); err != nil || string(l.Text) != "unfinished" || l.Offset != 102 {
		t.Fatalf("%q at %d, %v", l.Text, l.Offset, err)
	}
	if l, err := r.Next(); err != nil || string(l.Text) != "b" || r.Offset() != l.End {
		t.Fatalf("%q, %v", l.Text, err)
	}
}

func TestTheStreamsErrorIsReported(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), Options{})
	if l, err := r.Next(); err != nil || string(l.Text) != "a" {
		t.Fatalf("%q, %v", l.Text, err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Fatalf("error is %v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestAReaderThatNeverReadsIsGivenUp(t *testing.T) {
	if _, err := NewReader(idle{}, Options{}).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Fatalf("error is %v", err)
	}
}

// TestLinesCanBeReadFromAnyLineOn: whatever the stream and however it arrives, the texts are those of a plain split,
// and a reader that begins at a line's offset reads the same from there.
func TestLinesCanBeReadFromAnyLineOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.SampledFrom([]byte("ab\r\n\n"))).Draw(t, "stream")
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		texts, offsets, long := cutAll(t, NewReader(iotest.HalfReader(bytes.NewReader(in)), Options{Max: limit}))
		want, wantLong := split(in, limit)
		if !slices.Equal(texts, want) || long != wantLong {
			t.Fatalf("got %q and %d too long, want %q and %d", texts, long, want, wantLong)
		}
		if len(offsets) == 0 {
			return
		}
		i := rapid.IntRange(0, len(offsets)-1).Draw(t, "from")
		again, _, _ := cutAll(t, NewReader(bytes.NewReader(in[offsets[i]:]), Options{Max: limit, Offset: offsets[i]}))
		if !slices.Equal(again, texts[i:]) {
			t.Fatalf("from line %d: got %q, want %q", i, again, texts[i:])
		}
	})
}

// split is the model: what bytes.Split makes of the whole.
func split(in []byte, limit int) (texts []string, long int) {
	in = bytes.TrimPrefix(in, []byte(byteOrderMark))
	parts := bytes.Split(in, []byte("\n"))
	for i, p := range parts {
		finished := i < len(parts)-1
		if !finished && len(p) == 0 {
			break
		}
		text := p
		if finished {
			text = bytes.TrimSuffix(p, []byte("\r"))
		}
		// An unfinished line may be one longer than the limit: the last byte may have become a "\r".
		if len(text) > limit && (finished || len(text) > limit+1) {
			long++
			continue
		}
		texts = append(texts, string(text))
	}
	return texts, long
}

func TestAMarkInTheMiddleOfAStreamIsText(t *testing.T) {
	texts, offsets, _ := cutAll(t, NewReader(strings.NewReader("\ufeffa\n"), Options{Offset: 10}))
	if !slices.Equal(texts, []string{"\ufeffa"}) || !slices.Equal(offsets, []int64{10}) {
		t.Errorf("%q at %v", texts, offsets)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), 3)
	f.Add([]byte("\r\n\r\n"), 1)
	f.Add([]byte("\ufeffa\n\ufeff"), 1)
	f.Add([]byte("\xef\xbb"), 1)
	f.Add(bytes.Repeat([]byte("x"), 70_000), 65_536)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		if limit <= 0 || limit > 1<<20 {
			return
		}
		texts, _, long := cutAll(t, NewReader(bytes.NewReader(in), Options{Max: limit}))
		want, wantLong := split(in, limit)
		if !slices.Equal(texts, want) || long != wantLong {
			t.Fatalf("got %q and %d too long, want %q and %d", texts, long, want, wantLong)
		}
	})
}
