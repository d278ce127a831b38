package short

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A writer makes up a statement and writes it in one of the many ways in which it can be written, noting what it should
// be read as.
type writer struct {
	*rapid.T
	mode Mode
	text strings.Builder
	want Statement
}

func (w *writer) blank(least int) {
	w.text.WriteString(rapid.StringOfN(rapid.SampledFrom([]rune(" \t\n")), least, 3, -1).Draw(w.T, "blank"))
}

// word writes a word in some mixture of cases.
func (w *writer) word(word string) {
	upper := rapid.Uint64().Draw(w.T, "case")
	for i := range len(word) {
		b := word[i : i+1]
		if upper>>(i%64)&1 == 1 {
			b = strings.ToUpper(b)
		}
		w.text.WriteString(b)
	}
}

func (w *writer) punct(s string) {
	w.blank(0)
	w.text.WriteString(s)
	w.blank(0)
}

// name writes a name that is fit for its place.
func (w *writer) name(fit func(string) bool) string {
	bare := rapid.StringMatching("[A-Za-z_][A-Za-z0-9_]{0,12}").Filter(func(n string) bool { return !reserved(n) })
	quoted := rapid.StringMatching("[a-zA-Z0-9_.'\"#飛脚-]([ a-z;,()\\\\]{0,5}[a-z0-9?])?")
	if rapid.Bool().Draw(w.T, "bare") {
		name := bare.Filter(fit).Draw(w.T, "name")
		w.text.WriteString(name)
		return name
	}
	name := quoted.Filter(fit).Draw(w.T, "quoted")
	w.text.WriteString("`" + name + "`")
	return name
}

func anyName(string) bool { return true }

func (w *writer) table() {
	fit := func(n string) bool { return !strings.EqualFold(n, "dual") && !reservedInPath(n) }
	if rapid.Bool().Draw(w.T, "database") {
		w.want.Database = w.name(fit)
		w.text.WriteString(".")
	}
	w.want.Table = w.name(fit)
}

func (w *writer) columns(fit func(string) bool) {
	for i := range rapid.IntRange(1, 10).Draw(w.T, "columns") {
		if i > 0 {
			w.punct(",")
		}
		w.want.Columns = append(w.want.Columns, w.name(fit))
	}
}

// new tells whether no column has that name yet.
func (w *writer) new(name string) bool {
	return !slices.ContainsFunc(w.want.Columns, func(c string) bool { return strings.EqualFold(c, name) })
}

// literal writes one and returns how the plainest form would show it.
func (w *writer) literal(kinds ...Kind) string {
	switch rapid.SampledFrom(kinds).Draw(w.T, "kind") {
	case Null:
		w.word("null")
		return "NULL"
	case Placeholder:
		w.want.Placeholders++
		w.text.WriteString("?")
		return "?"
	case Integer:
		n := rapid.StringMatching("-?[0-9]{1,20}").Draw(w.T, "integer")
		w.text.WriteString(n)
		return n
	case Decimal:
		n := rapid.StringMatching(`-?[0-9]{1,30}\.[0-9]{1,35}`).Draw(w.T, "decimal")
		w.text.WriteString(n)
		return n
	case Hex:
		b := rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(w.T, "bytes")
		w.text.WriteString(fmt.Sprintf(rapid.SampledFrom([]string{"x'%x'", "X'%X'", "0x%x", "0x%X"}).Draw(w.T, "hex"),
			b))
		return fmt.Sprintf("x'%X'", b)
	}
	return w.str()
}

func (w *writer) str() string {
	quote := byte('\'')
	if !w.mode.ANSIQuotes && rapid.Bool().Draw(w.T, "double") {
		quote = '"'
	}
	body := rapid.OneOf(rapid.SliceOf(rapid.SampledFrom([]byte("a'\"\\%_ \n\x00\x1a\xff"))),
		rapid.SliceOf(rapid.Byte())).Draw(w.T, "body")
	w.text.WriteByte(quote)
	for i, b := range body {
		slash := !w.mode.NoBackslashEscapes && rapid.Bool().Draw(w.T, "escape")
		switch {
		case b == '\\' && w.mode.NoBackslashEscapes:
			body[i] = '/' // no backslash is recognized
			w.text.WriteByte('/')
		case b == '\\' || b == quote && slash:
			w.text.WriteString(`\` + string(rune(b)))
		case b == quote:
			w.text.WriteString(string(rune(quote)) + string(rune(quote)))
		case b == 0 && slash:
			w.text.WriteString(`\0`)
		case b == '\n' && slash:
			w.text.WriteString(`\n`)
		case b == 26 && slash:
			w.text.WriteString(`\Z`)
		case slash && !strings.ContainsRune("0bnrtZ%_", rune(b)):
			w.text.Write([]byte{'\\', b})
		default:
			w.text.WriteByte(b)
		}
	}
	w.text.WriteByte(quote)
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(string(body)) + "'"
}

// statement writes one and returns its plainest form.
func (w *writer) statement() string {
	w.blank(0)
	w.want.Verb = Verb(rapid.IntRange(int(Wait), int(Insert)).Draw(w.T, "verb"))
	var plain string
	switch w.want.Verb {
	case Select:
		plain = w.selects()
	case Insert:
		plain = w.insert()
	default:
		plain = w.call()
	}
	w.blank(0)
	if rapid.Bool().Draw(w.T, "semicolon") {
		w.punct(";")
	}
	return plain
}

func (w *writer) selects() string {
	w.word("select")
	w.blank(1)
	if rapid.Bool().Draw(w.T, "star") {
		w.text.WriteString("*")
	} else {
		w.columns(anyName)
	}
	w.blank(1)
	w.word("from")
	w.blank(1)
	w.table()
	return canonical(w.want)
}

func (w *writer) insert() string {
	w.word("insert")
	w.blank(1)
	w.word("into")
	w.blank(1)
	w.table()
	width := 0
	if rapid.Bool().Draw(w.T, "listed") {
		w.punct("(")
		w.columns(w.new)
		w.punct(")")
		width = len(w.want.Columns)
	} else {
		w.blank(1)
		width = rapid.IntRange(1, 12).Draw(w.T, "width")
	}
	w.word(rapid.SampledFrom([]string{"value", "values"}).Draw(w.T, "values"))
	plain := canonical(w.want)
	for i := range rapid.IntRange(1, 5).Draw(w.T, "rows") {
		if i > 0 {
			w.punct(",")
			plain += ", "
		}
		w.punct("(")
		values := make([]string, width)
		for j := range values {
			if j > 0 {
				w.punct(",")
			}
			values[j] = w.literal(Null, String, Integer, Decimal, Hex, Placeholder)
		}
		w.punct(")")
		plain += "(" + strings.Join(values, ", ") + ")"
	}
	return plain
}

func (w *writer) call() string {
	w.word("select")
	w.blank(1)
	start := w.text.Len()
	w.word(w.want.Verb.String())
	w.punct("(")
	var args []string
	switch w.want.Verb {
	case Wait:
		args = make([]string, rapid.IntRange(1, 6).Draw(w.T, "args"))
	case SetSource:
		args = make([]string, 3)
	}
	for i := range args {
		if i > 0 {
			w.punct(",")
		}
		args[i] = w.literal(String, String, Integer, Decimal, Placeholder)
	}
	w.blank(0)
	w.text.WriteString(")")
	w.want.Label = w.text.String()[start:]
	if rapid.Bool().Draw(w.T, "alias") {
		w.blank(1)
		if rapid.Bool().Draw(w.T, "as") {
			w.word("as")
			w.blank(1)
		}
		w.want.Label = w.name(anyName)
	}
	return "SELECT " + w.want.Verb.String() + "(" + strings.Join(args, ", ") + ")"
}

func drawMode(t *rapid.T) Mode {
	return Mode{ANSIQuotes: rapid.Bool().Draw(t, "ansi"),
		NoBackslashEscapes: rapid.Bool().Draw(t, "no backslash escapes")}
}

func TestAStatementIsRecognizedHoweverItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := writer{T: t, mode: drawMode(t)}
		plain := w.statement()
		s, ok := recognizedRightly(t, w.text.String(), w.mode)
		if !ok {
			t.Fatalf("%q (%+v) is not recognized", w.text.String(), w.mode)
		}
		if got := canonical(s); got != plain || s.Label != w.want.Label || s.Placeholders != w.want.Placeholders {
			t.Fatalf("%q (%+v) is\n\t%q named %q with %d placeholders, want\n\t%q named %q with %d", w.text.String(),
				w.mode,
				got, s.Label, s.Placeholders, plain, w.want.Label, w.want.Placeholders)
		}
	})
}

// fragments are what a statement may have too much of.
var fragments = strings.Split("'|\"|`|\\|\\'|''|\"\"|(|)|,|;|.|?|*|-|--|#|/*|*/|/*! "+
	"*/|@|@@|:|:v1|=|+|~|!|||&&|<=>|$|\x00|\r|\v|\xa0|\xff|é|"+
	"0|1|1.|.5|1e5|0x|0X41|x'|b'1'|N'a'|_utf8'a'|null|true|default| as | a | `a` | from t| where 1| limit 1| for "+
	"update| not | in (1)|"+
	" collate binary| into @a| union select 1| as n| on duplicate key update a=1| returning "+
	"a|row(1)|now()|queue_end()|select |values |insert |distinct |sql_cache |ignore ", "|")

func TestADamagedStatementIsReadRightlyOrNotAtAll(t *testing.T) {
	words, err := keywords()
	if err != nil {
		t.Fatal(err)
	}
	pieces := rapid.OneOf(rapid.SampledFrom(fragments), rapid.SampledFrom(words))
	rapid.Check(t, func(t *rapid.T) {
		w := writer{T: t, mode: drawMode(t)}
		w.statement()
		text := w.text.String()
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := min(len(text), from+rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 5, 50}).Draw(t, "length"))
			text = text[:from] + pieces.Draw(t, "piece") + text[to:]
		}
		recognizedRightly(t, text, w.mode)
	})
}

func TestWordsInAnyOrderAreReadRightlyOrNotAtAll(t *testing.T) {
	words, err := keywords()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom(words),
			rapid.SampledFrom([]string{"a", "t", "x", "queue_end()", "*", "'a'", "1", "(", ")", ",", ".", "?", "as"}))
		start := rapid.SampledFrom([]string{"select ", "select * from ", "select a from ", "insert into ",
			"insert into t ", "insert into t values ", "select queue_end() "}).Draw(t, "start")
		tokens := rapid.SliceOfN(name, 0, 8).Draw(t, "tokens")
		end := rapid.SampledFrom([]string{"", " from t", " values (1)", "(a) values (1)", ";"}).Draw(t, "end")
		recognizedRightly(t, start+strings.Join(tokens, rapid.SampledFrom([]string{" ", ", ", ",", "."}).Draw(t,
			"between"))+end, Mode{})
	})
}
