package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Of <linux/uhid.h>.
const (
	uhidDestroy, uhidStart                       = 1, 2
	uhidOutput, uhidGetReport, uhidGetReportBack = 6, 9, 10
	uhidCreate2, uhidInput2                      = 11, 12
	uhidSetReport, uhidSetReportBack             = 13, 14
	uhidData                                     = 4096
	// the largest one: to create
	uhidEvent = 4 + 128 + 64 + 64 + 2 + 2 + 4*4 + uhidData

	busUSB = 3
)

// The reports are 64 bytes both ways and without numbers, which is all that the descriptor says: what is in them only
// the vendor's programs know.
var descriptor = []byte{
	0x06, 0xab, 0xff, // a usage page of the vendor's
	0x0a, 0x00, 0x02,
	0xa1, 0x01, // a collection
	0x15, 0x00, 0x26, 0xff, 0x00, // from 0 to 255
	0x75, 0x08, 0x95, 0x40, // 64 times 8 bits
	0x09, 0x01, 0x81, 0x02, // in
	0x09, 0x02, 0x91, 0x02, // out
	0xc0,
}

// converter is a Titan One that the kernel believes to be on USB.
type converter struct {
	t      *test
	file   *os.File
	answer func(c *converter, report []byte) // is called for each report that is written to it; nil: it says nothing
	done   chan struct{}

	mu      sync.Mutex
	reports [][]byte
	gone    bool
	timers  []*time.Timer
}

// plug plugs a converter in.
func (t *test) plug(answer func(*converter, []byte)) *converter {
	f, err := os.OpenFile("/dev/uhid", os.O_RDWR|syscall.O_NONBLOCK, 0)
	t.check(err)
	c := &converter{t: t, file: f, answer: answer, done: make(chan struct{})}
	t.cleanup(func() {
		c.unplug()
		c.file.Close()
		<-c.done
	})
	b := make([]byte, 0, uhidEvent)
	b = binary.LittleEndian.AppendUint32(b, uhidCreate2)
	b = append(b, make([]byte, 128+64+64)...)
	copy(b[4:], "Titan One")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(descriptor)))
	b = binary.LittleEndian.AppendUint16(b, busUSB)
	for _, v := range []uint32{0x2508, 3, 0x100, 0} { // vendor, product, version, country
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = append(b, descriptor...)
	_, err = f.Write(b[:uhidEvent])
	started := make(chan struct{})
	go c.serve(started)
	t.check(err)
	t.eventually("the kernel has taken the converter", func() bool {
		select {
		case <-started:
			nodes, _ := os.ReadDir("/sys/class/hidraw")
			return len(nodes) > 0
		default:
			return false
		}
	})
	return c
}

func (c *converter) serve(started chan struct{}) {
	defer close(c.done)
	b := make([]byte, uhidEvent)
	for {
		n, err := c.file.Read(b)
		if err != nil {
			return
		}
		switch e := b[:n]; binary.LittleEndian.Uint32(e) {
		case uhidStart:
			close(started)
		case uhidOutput:
			size := binary.LittleEndian.Uint16(e[4+uhidData:])
			report := slices.Clone(e[4 : 4+size])
			c.mu.Lock()
			c.reports = append(c.reports, report)
			c.mu.Unlock()
			if c.answer != nil {
				c.answer(c, report)
			}
		case uhidGetReport:
			c.reply(uhidGetReportBack, e)
		case uhidSetReport:
			c.reply(uhidSetReportBack, e)
		}
	}
}

// reply says that it knows no such report.
func (c *converter) reply(kind uint32, question []byte) {
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = append(b, question[4:8]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(syscall.EIO))
	_, _ = c.file.Write(b)
}

// says sends a report to the kernel.
func (c *converter) says(report []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 6+uhidData), uhidInput2)
	b = binary.LittleEndian.AppendUint16(b, 64)
	b = append(b, report...)
	_, _ = c.file.Write(append(b, make([]byte, 64-len(report))...))
}

// later calls f after a time, unless the converter is unplugged before.
func (c *converter) later(d time.Duration, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		c.timers = append(c.timers, time.AfterFunc(d, f))
	}
}

// unplug takes it away; once more changes nothing.
func (c *converter) unplug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	c.gone = true
	for _, t := range c.timers {
		t.Stop()
	}
	_, _ = c.file.Write(binary.LittleEndian.AppendUint32(nil, uhidDestroy))
}

func (c *converter) got() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.reports)
}

// The kinds of reports, as GIMX has them.
const (
	kindInput  = 1
	kindOutput = 4
	kindEnter  = 7
	kindLeave  = 8
)

// parse splits a report, and complains about what should not be in it.
func (t *test) parse(report []byte) (kind byte, state []byte) {
	if len(report) != 65 || report[0] != 0 {
		t.fatalf("not a report of 64 bytes behind the number 0: %x", report)
	}
	kind, length := report[1], int(binary.LittleEndian.Uint16(report[2:]))
	if report[4] != 1 || length > 60 {
		t.fatalf("the head of a report: %x", report[:5])
	}
	if rest := report[5+length:]; len(bytes.Trim(rest, "\x00")) > 0 {
		t.fatalf("behind a report's end: %x", rest)
	}
	return kind, report[5 : 5+length]
}

// told is the reports as text: enter, leave, or a state in bytes.
func (t *test) told(reports [][]byte) (all []string) {
	for _, r := range reports {
		switch kind, state := t.parse(r); kind {
		case kindEnter:
			all = append(all, "enter")
		case kindLeave:
			all = append(all, "leave")
		case kindOutput:
			all = append(all, stateText(state))
		default:
			t.fatalf("a report of the kind %d", kind)
		}
	}
	return all
}
