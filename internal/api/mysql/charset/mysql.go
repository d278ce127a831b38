package charset

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// What follows is how MySQL's tables differ from those of golang.org/x/text. TestEveryLetterIsMariaDBs in
// test/clients/databases compares all of them with a server, and says what to put here.

// The letters for which JIS (sjis, ujis) has others than Microsoft (cp932, eucjpms, golang.org/x/text), in MySQL's
// reference manual at "The cp932 Character Set".
var (
	jisInSJIS = []edit{{0x815F, 1, '\\'}, {0x8160, 1, 0x301C}, {0x8161, 1, 0x2016}, {0x817C, 1, 0x2212},
		{0x8191, 2, 0x00A2}, {0x81CA, 1, 0x00AC}}
	jisInEUC = []edit{{0xA1C0, 1, '\\'}, {0xA1C1, 1, 0x301C}, {0xA1C2, 1, 0x2016}, {0xA1DD, 1, 0x2212},
		{0xA1F1, 2, 0x00A2}, {0xA2CC, 1, 0x00AC}}
)

// What NEC and IBM added to JIS, which MySQL's sjis and ujis do not have.
var (
	noVendorsInSJIS = []edit{{0x8740, 188, 0}, {0xED40, 188 * 16, 0}}
	noVendorsInEUC  = []edit{{0xADA1, 94, 0}} // those behind F5A1 make place for private letters
)

// Letters that everybody may define for himself are Unicode's for private use.
var (
	privateInCP932 = []edit{{0xF040, 188 * 10, 0xE000}}
	privateInEUC   = []edit{{0xF5A1, 94 * 10, 0xE000}, {single<<16 | 0xF5A1, 94 * 10, 0xE3AC}}
)

// ibmInEUC are the letters of IBM that eucjpms has behind those of JIS X 0212, and no other code has.
const ibmInEUC = "" +
	"炻仼僴凬匇匤\ufa0e咊坙\ufa0f\ufa10增寬峵嵓\ufa11德悅愠敎昻晥\ufa12\uf929栁\ufa13\ufa14橫櫢" +
	"淸淲瀨\ufa15\ufa16甁皂皞\ufa17礰\ufa18\ufa19\ufa1a\ufa1b竧\ufa1c\ufa1d綠緖\ufa1e荢\ufa1f薰" +
	"\ufa20\ufa21蠇\ufa22譿賴赶\ufa23\ufa24\ufa25郞\ufa26鄕\ufa27\ufa28閒\uf9dc\ufa29霻靍靑" +
	"\ufa2a\ufa2b\ufa2c馞髙魲\ufa2d黑"

// ofIBM has eucjpms' additions where MySQL has them.
func ofIBM() []edit {
	edits := []edit{
		{single<<16 | 0xA2C3, 1, 0xFFE4}, {single<<16 | 0xF3F3, 10, 0x2170}, {single<<16 | 0xF3FD, 10, 0x2160},
		{single<<16 | 0xF4A9, 1, 0xFF07},
		{single<<16 | 0xF4AA, 1, 0xFF02}, {single<<16 | 0xF4AB, 1, 0x3231}, {single<<16 | 0xF4AC, 1, 0x2116},
		{single<<16 | 0xF4AD, 1, 0x2121},
	}
	at := code(single<<16 | 0xF4AE)
	for _, r := range ibmInEUC {
		edits = append(edits, edit{at, 1, r})
		at++
	}
	return edits
}

// big5 is older than the standard that is the base: it has the Kana and Cyrillic letters of ETEN in another place, and
// nothing of Hong Kong's.
var big5 = []edit{
	{0xA145, 1, 0x2022}, {0xA14E, 1, 0xFF64}, {0xA15A, 1, 0}, {0xA1C2, 1, 0x203E}, {0xA1C3, 1, 0}, {0xA1C5, 1, 0},
	{0xA1E3, 1, 0x223C}, {0xA1F2, 1, 0x2641},
	{0xA1F3, 1, 0x2609}, {0xA1FE, 2, 0}, {0xA241, 1, 0xFF0F}, {0xA242, 1, 0xFF3C}, {0xA244, 1, 0x00A5},
	{0xA246, 2, 0x00A2}, {0xA2CC, 1, 0}, {0xA2CE, 1, 0},
	{0xA3C0, 34, 0}, {0xC6A1, 1, 0x30FE}, {0xC6A2, 2, 0x309D}, {0xC6A4, 1, 0x3005}, {0xC6A5, 83, 0x3041},
	{0xC6F8, 86, 0x30A1}, {0xC7B1, 2, 0x0414},
	{0xC7B3, 1, 0x0401}, {0xC7B4, 7, 0x0416}, {0xC7BB, 19, 0x0423}, {0xC7CE, 1, 0x0451}, {0xC7CF, 26, 0x0436},
	{0xC7E9, 10, 0x2460}, {0xC7F3, 10, 0x2474},
	{0xC7FD, 69, 0}, {0xC8CD, 37, 0}, {0xC8F5, 10, 0}, {0xF9DD, 34, 0}, {0x8140, 157 * 32, 0}, {0xFA40, 157 * 5, 0},
}

var (
	gbk    = []edit{{0x80, 1, 0}, {0xA2E3, 1, 0}, {0xA3A0, 1, 0}, {0xA8BF, 1, 0}, {0xA989, 13, 0}, {0xFE50, 80, 0}}
	gb2312 = []edit{
		{0x80, 1, 0}, {0x8140, 190 * 32, 0}, {0xF840, 190 * 7, 0}, {0xA1A4, 1, 0x30FB}, {0xA1AA, 1, 0x2015},
		{0xA2A1, 10, 0}, {0xA2E3, 1, 0}, {0xA6E0, 12, 0},
		{0xA6EE, 5, 0}, {0xA6F2, 1, 0}, {0xA6F4, 2, 0}, {0xA8BB, 1, 0}, {0xA8BD, 4, 0},
	}
)

// onlyA1 cuts the letters off whose second byte comes before A1.
func onlyA1() (edits []edit) {
	for lead := code(0x81); lead < 0xFF; lead++ {
		edits = append(edits, edit{lead<<8 | 0x40, 96, 0})
	}
	return edits
}

// Of the letters that stand twice in cp932, NEC's row and what JIS has are written, and of IBM's those that are not in
// NEC's choice.
var twiceInCP932 = [][2]code{{0xED40, 0xEEFC}}

var (
	trailsSJIS = [][2]byte{{0x40, 0x7E}, {0x80, 0xFC}}
	trailsBig5 = [][2]byte{{0x40, 0x7E}, {0xA1, 0xFE}}
	trailsGBK  = [][2]byte{{0x40, 0x7E}, {0x80, 0xFE}}
)

var sets = func() map[string]*Set {
	all := map[string]*Set{}
	add := func(name string, s source) { all[name] = &Set{Name: name, MaxBytes: s.maxBytes, from: s} }
	join := func(lists ...[]edit) (all []edit) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	no80 := []edit{{0x80, 1, 0}}
	add("sjis", source{base: japanese.ShiftJIS, maxBytes: 2, trails: trailsSJIS,
		edits: join(no80, jisInSJIS, noVendorsInSJIS), backslash: 0x815F})
	add("cp932", source{base: japanese.ShiftJIS, maxBytes: 2, trails: trailsSJIS, edits: join(no80, privateInCP932),
		unused: twiceInCP932})
	add("ujis", source{base: japanese.EUCJP, maxBytes: 3,
		edits: join(jisInEUC, noVendorsInEUC, privateInEUC, []edit{{single<<16 | 0xA2B7, 1, '~'}})})
	add("eucjpms", source{base: japanese.EUCJP, maxBytes: 3, edits: join(privateInEUC, ofIBM())})
	add("gbk", source{base: simplifiedchinese.GBK, maxBytes: 2, trails: trailsGBK, edits: gbk})
	add("gb2312", source{base: simplifiedchinese.GBK, maxBytes: 2, trails: trailsGBK, edits: join(gb2312, onlyA1())})
	add("gb18030", source{base: simplifiedchinese.GB18030, maxBytes: 4})
	add("big5", source{base: traditionalchinese.Big5, maxBytes: 2, trails: trailsBig5, edits: big5})
	add("euckr", source{base: korean.EUCKR, maxBytes: 2})
	for name, base := range map[string]encoding.Encoding{
		"latin1": charmap.Windows1252, "latin2": charmap.ISO8859_2, "latin5": charmap.ISO8859_9,
		"latin7": charmap.ISO8859_13, "greek": charmap.ISO8859_7,
		"hebrew": charmap.ISO8859_8, "cp1250": charmap.Windows1250, "cp1251": charmap.Windows1251,
		"cp1256": charmap.Windows1256, "cp1257": charmap.Windows1257,
		"cp850": charmap.CodePage850, "cp852": charmap.CodePage852, "cp866": charmap.CodePage866,
		"koi8r": charmap.KOI8R, "koi8u": charmap.KOI8U,
		"macroman": charmap.Macintosh, "tis620": charmap.Windows874,
	} {
		add(name, source{base: base, maxBytes: 1, edits: singleByte[name]})
	}
	add("ascii", source{maxBytes: 1})
	return all
}()

// singleByte are the letters that MySQL's tables of one byte a letter have otherwise. Those that these lack stay.
var singleByte = map[string][]edit{
	"cp866":  {{0xFC, 1, 0x207F}, {0xFD, 1, 0x00B2}},
	"greek":  {{0xA1, 1, 0x02BD}, {0xA2, 1, 0x02BC}},
	"hebrew": {{0xAF, 1, 0x203E}},
	"koi8u":  {{0x95, 1, 0x2022}, {0xAE, 1, 0x255D}, {0xBE, 1, 0x256C}},
	"tis620": {{0x80, 1, 0x0080}, {0x85, 1, 0x0085}, {0x91, 7, 0x0091}},
}
