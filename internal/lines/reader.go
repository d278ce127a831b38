package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// DefaultMax is the longest line when Options do not say, in bytes.
const DefaultMax = 1 << 20

const (
	chunkBytes = 64 << 10
	emptyReads = 100 // reads of nothing without an error before a reader is called broken
)

// Options say how a stream is cut.
type Options struct {
	Max    int   // bytes of a line without its end; 0 or less: DefaultMax
	Offset int64 // where in the stream the first byte read stands; at 0 a byte order mark of UTF-8 is passed over
}

// Line is one line of a stream.
type Line struct {
	// without its end ("\n" or "\r\n"); valid until the Reader reads on: while Ready was true, Next leaves it as it is
	Text   []byte
	Offset int64 // of its first byte
	End    int64 // of the first byte after it and its end
	Number int64 // from 1, counted from where the Reader began
}

// TooLongError says that a line was longer than allowed. The Reader can go on: the next call begins with the line after
// it.
type TooLongError struct {
	Number int64
	Offset int64
	Limit  int
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("line %d (at byte %d) is longer than %d bytes", e.Number, e.Offset, e.Limit)
}

// Reader cuts a stream into lines. It is not for use by several goroutines at once.
type Reader struct {
	src    io.Reader
	max    int
	buf    []byte // buf[start:end] was read and not yet handed out
	start  int
	end    int
	seen   int   // no line ends within buf[start:seen]
	offset int64 // of buf[start]
	number int64 // of the line that begins at buf[start]
	begun  bool  // the first bytes of the stream were looked at for a byte order mark
	// skipping: buf[start:] belongs to a line that was too long.
	skipping bool
}

// NewReader makes a Reader of src. It reads nothing yet.
func NewReader(src io.Reader, o Options) *Reader {
	if o.Max <= 0 {
		o.Max = DefaultMax
	}
	return &Reader{src: src, max: o.Max, offset: o.Offset, number: 1, begun: o.Offset != 0}
}

// Next returns the next line that has an end. At the end of the stream it returns io.EOF and keeps an unfinished line:
// when the stream has grown, Next may be called again; Last returns the unfinished line. A *TooLongError concerns one
// line. Any other error is the stream's.
func (r *Reader) Next() (Line, error) {
	for {
		if r.begin() {
			if l, ok, err := r.cut(); ok || err != nil {
				return l, err
			}
		}
		if err := r.fill(); err != nil {
			return Line{}, err
		}
	}
}

// Ready tells whether the next call of Next reads nothing: a whole line was read with those before it.
func (r *Reader) Ready() bool {
	return r.begun && !r.skipping && bytes.IndexByte(r.buf[r.seen:r.end], '\n') >= 0
}

// Last returns the unfinished line at the end of the stream, if there is one, and forgets it.
func (r *Reader) Last() (Line, bool) {
	r.leaveMark()
	if r.start == r.end || r.skipping {
		return Line{}, false
	}
	return r.take(r.end, r.end), true
}

// Offset is where the next line begins: everything before it was handed out. In the middle of a line that is too long
// it lies within that line.
func (r *Reader) Offset() int64 { return r.offset }

// byteOrderMark is what some programs write before UTF-8 text. It is no part of the first line.
const byteOrderMark = "\ufeff"

// begin passes over a byte order mark at the stream's beginning. It is false as long as the bytes that are there may
// become one.
func (r *Reader) begin() bool {
	if have := r.buf[r.start:r.end]; !r.begun && len(have) < len(byteOrderMark) &&
		strings.HasPrefix(byteOrderMark, string(have)) {
		return false
	}
	r.leaveMark()
	return true
}

// leaveMark drops a byte order mark if what is there begins with it.
func (r *Reader) leaveMark() {
	if !r.begun && bytes.HasPrefix(r.buf[r.start:r.end], []byte(byteOrderMark)) {
		r.drop(r.start + len(byteOrderMark))
	}
	r.begun = true
}

// cut takes a line from the buffer if one is whole. ok is false when more has to be read.
func (r *Reader) cut() (l Line, ok bool, err error) {
	i := bytes.IndexByte(r.buf[r.seen:r.end], '\n')
	if r.skipping {
		if i < 0 {
			r.drop(r.end)
			return Line{}, false, nil
		}
		r.drop(r.seen + i + 1)
		r.skipping = false
		r.number++
		return r.cut()
	}
	if i >= 0 {
		end := r.seen + i
		text := end
		if text > r.start && r.buf[text-1] == '\r' {
			text--
		}
		if text-r.start > r.max {
			err := r.tooLong()
			r.drop(end + 1)
			r.number++
			return Line{}, false, err
		}
		return r.take(text, end+1), true, nil
	}
	r.seen = r.end
	if r.end-r.start > r.max+1 { // one more may be the "\r" of its end
		err := r.tooLong()
		r.drop(r.end)
		r.skipping = true
		return Line{}, false, err
	}
	return Line{}, false, nil
}

func (r *Reader) tooLong() error {
	return &TooLongError{Number: r.number, Offset: r.offset, Limit: r.max}
}

func (r *Reader) take(text, end int) Line {
	l := Line{Text: r.buf[r.start:text:text], Offset: r.offset, Number: r.number}
	r.drop(end)
	r.number++
	l.End = r.offset
	return l
}

// drop forgets the buffer up to the index.
func (r *Reader) drop(to int) {
	r.offset += int64(to - r.start)
	r.start, r.seen = to, to
}

// fill reads once more, making room first.
func (r *Reader) fill() error {
	if r.start == r.end {
		r.start, r.end, r.seen = 0, 0, 0
		if len(r.buf) > chunkBytes {
			r.buf = nil // a long line is over: do not hold on to its room
		}
	}
	if r.end == len(r.buf) {
		r.grow()
	}
	for range emptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			return errors.New("the stream's Read returned an impossible count")
		}
		r.end += n
		if n > 0 {
			return nil // an error comes again with the next read
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// grow moves what is left to the front, and into a larger buffer if that frees too little.
func (r *Reader) grow() {
	held := r.end - r.start
	to := r.buf
	if held > len(r.buf)/2 || len(r.buf) == 0 {
		to = make([]byte, max(chunkBytes, 2*len(r.buf)))
	}
	copy(to, r.buf[r.start:r.end])
	r.seen -= r.start
	r.start, r.end, r.buf = 0, held, to
}
