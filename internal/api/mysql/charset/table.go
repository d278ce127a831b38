package charset

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// The letters for which the tables of Microsoft (cp932, eucjpms, and the standard that golang.org/x/text follows) and of JIS (sjis, ujis) differ,
// in MySQL's reference manual at "The cp932 Character Set".
var jis = map[rune]rune{
	0xFF3C: '\\', 0xFF5E: 0x301C, 0x2225: 0x2016, 0xFF0D: 0x2212, 0xFFE0: 0x00A2, 0xFFE1: 0x00A3, 0xFFE2: 0x00AC,
}

// toJIS is the way back: what JIS has is looked up as Microsoft's, and Microsoft's is not there.
func toJIS(more map[rune]rune) map[rune]rune {
	out := map[rune]rune{}
	for theirs, own := range jis {
		out[theirs] = 0
		if own != '\\' {
			out[own] = theirs
		}
	}
	for from, to := range more {
		out[from] = to
	}
	return out
}

// onlyMicrosoft is the way back of Microsoft's: what JIS has in its place is not there.
var onlyMicrosoft = map[rune]rune{0x301C: 0, 0x2016: 0, 0x2212: 0, 0x00A2: 0, 0x00A3: 0, 0x00AC: 0, 0x00A5: 0, 0x203E: 0}

func wideSJIS(b byte) int {
	if b > 0x80 && b < 0xA0 || b >= 0xE0 {
		return 2
	}
	return 1
}

func wideEUC(b byte) int {
	if b == 0x8F {
		return 3
	}
	return 2
}

func wideGBK(b byte) int {
	if b == 0x80 {
		return 1
	}
	return 2
}

// euroGBK tells the places of the euro sign, which the table has and MySQL's does not.
func euroGBK(b [2]byte) bool { return b[0] == 0x80 || b == [2]byte{0xA2, 0xE3} }

func wide(byte) int { return 2 }

// ofVendors tells letters of two bytes that NEC and IBM added to Shift_JIS.
func ofVendors(b [2]byte) bool { return b[0] == 0x80 || b[0] == 0x87 || b[0] >= 0xED && b[0] <= 0xFC }

// byNEC tells letters of IBM's that NEC has, too: they are read, and written as IBM's.
func byNEC(b [2]byte) bool { return b[0] == 0xED || b[0] == 0xEE }

// vendorsEUC tells the same of EUC-JP.
func vendorsEUC(b [2]byte) bool { return b[0] == 0xAD || b[0] >= 0xF9 && b[0] <= 0xFC }

var sets = func() map[string]*Set {
	all := map[string]*Set{}
	for _, s := range []*Set{
		{Name: "sjis", MaxBytes: 2, table: japanese.ShiftJIS, in: jis, out: toJIS(map[rune]rune{'\\': 0xFF3C}), width: wideSJIS, none: ofVendors},
		{Name: "cp932", MaxBytes: 2, table: japanese.ShiftJIS, out: onlyMicrosoft, width: wideSJIS, none: func(b [2]byte) bool { return b[0] == 0x80 }, unwritten: byNEC},
		{Name: "ujis", MaxBytes: 3, table: japanese.EUCJP, in: jis, out: toJIS(nil), width: wideEUC, none: vendorsEUC},
		{Name: "eucjpms", MaxBytes: 3, table: japanese.EUCJP, out: onlyMicrosoft},
		{Name: "gbk", MaxBytes: 2, table: simplifiedchinese.GBK, out: map[rune]rune{0x20AC: 0}, width: wideGBK, none: euroGBK},
		{Name: "gb2312", MaxBytes: 2, table: simplifiedchinese.GBK, width: wideGBK, none: func(b [2]byte) bool { return b[0] < 0xA1 || b[0] > 0xF7 || b[1] < 0xA1 }},
		{Name: "gb18030", MaxBytes: 4, table: simplifiedchinese.GB18030},
		{Name: "big5", MaxBytes: 2, table: traditionalchinese.Big5, width: wide, none: func(b [2]byte) bool { return b[0] < 0xA1 || b[0] > 0xF9 }},
		{Name: "euckr", MaxBytes: 2, table: korean.EUCKR},
	} {
		all[s.Name] = s
	}
	for name, table := range map[string]encoding.Encoding{
		"latin1": charmap.Windows1252, "latin2": charmap.ISO8859_2, "latin5": charmap.ISO8859_9, "latin7": charmap.ISO8859_13, "greek": charmap.ISO8859_7,
		"hebrew": charmap.ISO8859_8, "cp1250": charmap.Windows1250, "cp1251": charmap.Windows1251, "cp1256": charmap.Windows1256, "cp1257": charmap.Windows1257,
		"cp850": charmap.CodePage850, "cp852": charmap.CodePage852, "cp866": charmap.CodePage866, "koi8r": charmap.KOI8R, "koi8u": charmap.KOI8U,
		"macroman": charmap.Macintosh, "tis620": charmap.Windows874, "ascii": sevenBits,
	} {
		all[name] = &Set{Name: name, MaxBytes: 1, table: table}
	}
	return all
}()

// sevenBits has the letters that all of them have, which are converted before it is asked.
var sevenBits = encoding.Replacement
