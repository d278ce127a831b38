package measure

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func sample() *Table {
	return NewTable(Column{Name: "方式"}, Column{"仕事", Left}, Column{"件数", Right}, Column{"p99 (ms)", Right}).
		Row("hikyaku", "put", "1,000,000", 0.44).
		Row("普通の方法", "取り出し", 5, "12.3").
		Row("ﾊﾝｶｸ | café", "a*b` <c> \\ & d", "", "-").
		Row("two\nlines\x1b[31m", "short row").
		Row("👍🏽 emoji", "한국어", 1, 2, "one too many")
}

func TestTableAlignsInATerminal(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", b.String())
}

func TestTableAsMarkdown(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.md", b.String())
}

func TestTableWithoutRowsHasItsHeadings(t *testing.T) {
	var b strings.Builder
	table := NewTable(Column{Name: "name"}, Column{"n", Right})
	if err := table.WriteText(&b); err != nil || table.Len() != 0 {
		t.Fatal(err, table.Len())
	}
	if want := "name  n\n----  -\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

var texts = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"日本語", "ｱｲｳ", "a", "", "|", "\x00\n", "\xff"}))

func TestATableHasALineARowAndEveryLineAllItsCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "columns")
		columns := make([]Column, n)
		for i := range columns {
			columns[i] = Column{texts.Draw(t, "heading"), Align(rapid.IntRange(0, 1).Draw(t, "align"))}
		}
		table := NewTable(columns...)
		rows := rapid.IntRange(0, 5).Draw(t, "rows")
		for range rows {
			row := make([]any, rapid.IntRange(0, n).Draw(t, "cells"))
			for i := range row {
				row[i] = texts.Draw(t, "cell")
			}
			table.Row(row...)
		}
		var text, md strings.Builder
		if err := errors.Join(table.WriteText(&text), table.WriteMarkdown(&md)); err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(text.String()) || strings.Count(text.String(), "\n") != rows+2 {
			t.Fatalf("the table has not one line a row: %q", text.String())
		}
		lines := strings.Split(strings.TrimSuffix(md.String(), "\n"), "\n")
		for _, l := range lines {
			if unescapedBars(l) != n+1 {
				t.Fatalf("%q has not %d cells", l, n)
			}
		}
	})
}

func unescapedBars(s string) (n int) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			n++
		}
	}
	return n
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

var errBroken = errors.New("broken")

func TestWriteErrorsAreReturned(t *testing.T) {
	r := NewBenchReport("x")
	for name, err := range map[string]error{
		"text": sample().WriteText(broken{}), "markdown": sample().WriteMarkdown(broken{}),
		"plot": new(Plot).WriteSVG(broken{}), "report": r.WriteJSON(broken{}),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
