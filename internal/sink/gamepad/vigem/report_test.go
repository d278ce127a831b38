package vigem

import (
	"testing"
	"unsafe"

	"github.com/hikyaku/hikyaku/internal/macro"
)

func TestAStateIsWhatAnXboxPadTells(t *testing.T) {
	if size := unsafe.Sizeof(report{}); size != 12 {
		t.Errorf("a report has %d bytes", size)
	}
	for text, want := range map[string]report{
		"5":                        {},
		"1,lp,mp":                  {buttons: 0x0006 | 0x4000 | 0x8000},
		"9,lk,mk":                  {buttons: 0x0009 | 0x1000 | 0x2000},
		"start,share,l3,r3":        {buttons: 0x00f0},
		"l1,r1,ps":                 {buttons: 0x0700},
		"lp=50,mp=49":              {buttons: 0x4000},
		"l2=40,r2":                 {left: 102, right: 255},
		"lx=-100,ly=-100":          {lx: -32767, ly: 32767},
		"rx=100,ry=100":            {rx: 32767, ry: -32767},
		"lx=50,ly=1,rx=-1,ry=-50":  {lx: 16383, ly: -327, rx: -327, ry: 16383},
		"touch,accx=100,touchx=50": {},
	} {
		s, err := macro.ParseState(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := of(&s); got != want {
			t.Errorf("%s: %+v, not %+v", text, got, want)
		}
	}
}

// FuzzReport: whatever a state has, nothing turns into its opposite.
func FuzzReport(f *testing.F) {
	f.Add([]byte{128, 127, 100, 156})
	f.Fuzz(func(t *testing.T, values []byte) {
		var s macro.State
		for i := range min(len(values), len(s)) {
			s[i] = int8(values[i])
		}
		r := of(&s)
		for in, got := range map[macro.Input]int16{macro.LX: r.lx, macro.LY: -r.ly, macro.RX: r.rx, macro.RY: -r.ry} {
			if int(got)*int(s[in]) < 0 || got == 0 && s[in] != 0 {
				t.Errorf("%s=%d became %d", macro.Name(in), s[in], got)
			}
		}
	})
}
