// Package logbook keeps the newest lines of a function's log in memory, within a bound, and lets readers follow them. A
// reader that is slow loses the oldest lines and is told how many; it never slows a writer.
//
//	book := logbook.New(1 << 20)
//	book.Add(logbook.Line{Time: now, Request: id, Text: "hello"})
//	for from := book.End() - 100; ; {                 // the last hundred, then what comes
//		lines, next, missed, err := book.Next(ctx, from)
//		…
//		from = next
//	}
package logbook

import (
	"context"
	"sync"
	"time"
)

// Line is a line of a log, without its end.
type Line struct {
	Time     time.Time
	Instance string // which instance wrote it
	Request  string // during which invocation; "" outside of any
	Text     string
	Ours     bool // START, END, REPORT and the like: not printed by the function
}

// overhead is about what a line costs beside its text.
const overhead = 120

// Book is a log. Its methods may be called concurrently.
type Book struct {
	mu    sync.Mutex
	limit int
	size  int
	first uint64 // the number of lines[0]
	lines []Line // lines[head:] are kept
	head  int
	more  chan struct{} // closed when a line is added while somebody waits; nil when nobody does
}

// New makes a book that keeps about limit bytes.
func New(limit int) *Book {
	return &Book{limit: limit}
}

// Add appends a line. The oldest are dropped for it when the book is full.
func (b *Book) Add(l Line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, l)
	b.size += len(l.Text) + overhead
	for b.size > b.limit && len(b.lines)-b.head > 1 {
		b.size -= len(b.lines[b.head].Text) + overhead
		b.lines[b.head] = Line{}
		b.head++
		b.first++
	}
	if b.head > len(b.lines)/2 {
		kept := copy(b.lines, b.lines[b.head:])
		clear(b.lines[kept:])
		b.lines, b.head = b.lines[:kept], 0
	}
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
}

// End is the number of the line that will be added next. The first line ever has number 0.
func (b *Book) End() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end()
}

func (b *Book) end() uint64 { return b.first + uint64(len(b.lines)-b.head) }

// Read returns the lines from number from on, a copy, at most limit of them when limit is above 0; next is the number
// to go on with, and missed how many were dropped before they could be read.
func (b *Book) Read(from uint64, limit int) (lines []Line, next, missed uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read(from, limit)
}

func (b *Book) read(from uint64, limit int) (lines []Line, next, missed uint64) {
	if from < b.first {
		missed, from = b.first-from, b.first
	}
	from = min(from, b.end())
	kept := b.lines[b.head+int(from-b.first):]
	if limit > 0 && len(kept) > limit {
		kept = kept[:limit]
	}
	return append([]Line(nil), kept...), from + uint64(len(kept)), missed
}

// Next is Read that waits for at least one line. The error is the context's.
func (b *Book) Next(ctx context.Context, from uint64) (lines []Line, next, missed uint64, err error) {
	for {
		b.mu.Lock()
		if lines, next, missed = b.read(from, 1000); len(lines) > 0 {
			b.mu.Unlock()
			return lines, next, missed, nil
		}
		if b.more == nil {
			b.more = make(chan struct{})
		}
		more := b.more
		b.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return nil, from, 0, ctx.Err()
		}
	}
}
