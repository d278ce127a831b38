package console

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view is a page while it is made: the language, who looks, and the cells. A cell is a place of the page that changes
// while somebody looks: a number, a link, where a curve goes. The template is executed with a zero byte in the place of
// each, and the values are put in afterwards. So what is left, the shape, tells whether a page differs from what a
// browser has in its cells alone; then the cells that have changed are all that the event stream carries.
//
// No template can give a zero byte by itself: html/template replaces it in whatever it escapes.
type view struct {
	Lang  string // "en" or "ja"
	Now   time.Time
	Path  string // of the page, with its query
	cells []string
	site  *Console
}

// place is where the value of a cell comes.
const place = "\x00"

// cell notes a value and returns the attribute that names it for the script.
func (v *view) cell(value any) string {
	v.cells = append(v.cells, strings.ToValidUTF8(fmt.Sprint(value), "\uFFFD"))
	return `data-c="` + strconv.Itoa(len(v.cells)-1) + `"`
}

// Cell is text that changes.
func (v *view) Cell(text any) template.HTML {
	return template.HTML("<span " + v.cell(text) + ">" + place + "</span>")
}

// Drawn is Cell within a picture.
func (v *view) Drawn(text any) template.HTML {
	return template.HTML("<tspan " + v.cell(text) + ">" + place + "</tspan>")
}

// Attr is an attribute that changes, of an element that has no other such. Name is never one that has an address or a
// script.
func (v *view) Attr(name string, value any) template.HTMLAttr {
	return template.HTMLAttr(v.cell(value) + ` data-a="` + name + `" ` + name + `="` + place + `"`)
}

// Link is a link, to one of these pages, that changes: its text and where it leads to.
func (v *view) Link(to string, text any) template.HTML {
	return template.HTML("<a " + v.cell(Base+to) + ` data-a="href" href="` + place + `"><span ` + v.cell(text) + ">" +
		place + "</span></a>")
}

// fill puts the cells into what the template gave.
func fill(shape string, cells []string) string {
	var b strings.Builder
	for _, value := range cells {
		before, after, _ := strings.Cut(shape, place)
		b.WriteString(before)
		b.WriteString(template.HTMLEscapeString(value)) // it makes U+FFFD of a zero byte, too
		shape = after
	}
	b.WriteString(shape)
	return b.String()
}

// T is a text in the language of the page.
func (v *view) T(text string, values ...any) string {
	if v.Lang == "ja" {
		if t, ok := japanese[text]; ok {
			text = t
		}
	}
	if len(values) == 0 {
		return text
	}
	return fmt.Sprintf(text, values...)
}

// ReadOnly tells whether the page has no acts.
func (v *view) ReadOnly() bool { return v.site.config.ReadOnly }

// Version is that of the program.
func (v *view) Version() string { return v.site.config.Version }

// Base is where the pages are.
func (v *view) Base() string { return Base }

// File is the address of a file that pages load.
func (v *view) File(name string) string { return Base + "web/" + name + "?" + marks[name] }

// Count is a number of things.
func (v *view) Count(n any) string {
	switch n := n.(type) {
	case int:
		return measure.Count(int64(n))
	case int64:
		return measure.Count(n)
	case uint64:
		return measure.Count(int64(min(n, 1<<62)))
	}
	return fmt.Sprint(n)
}

// Messages is a number of messages.
func (v *view) Messages(n any) string {
	if count := v.Count(n); count != "1" {
		return v.T("%s messages", count)
	}
	return v.T("1 message")
}

// Rate is so many a second.
func (v *view) Rate(perSecond float64) string { return measure.Rate(perSecond) }

// Bytes is a size.
func (v *view) Bytes(n int64) string { return measure.Bytes(n) }

// Size is Bytes.
func (v *view) Size(n uint64) string { return measure.Bytes(int64(min(n, 1<<62))) }

// Seconds is a time that something takes or took; 0: a dash.
func (v *view) Seconds(s float64) string {
	if s == 0 {
		return "–"
	}
	return measure.Duration(time.Duration(s * float64(time.Second)))
}

// ByteRate is so many bytes a second.
func (v *view) ByteRate(perSecond float64) string { return measure.Bytes(int64(perSecond)) + "/s" }

// Span is how long something took.
func (v *view) Span(d any) string {
	switch d := d.(type) {
	case time.Duration:
		return measure.Duration(d)
	case httpdoor.Duration:
		return measure.Duration(time.Duration(d))
	}
	return fmt.Sprint(d)
}

// When is Ago, and nothing for no time.
func (v *view) When(t *time.Time) string {
	if t == nil {
		return ""
	}
	return v.Ago(*t)
}

// Death is why a message is a dead letter, on one line.
func (v *view) Death(d *httpdoor.Death) string {
	if d == nil {
		return ""
	}
	return d.Reason
}

// Definition are the fields of a definition that say something.
func (v *view) Definition(d httpdoor.Definition) [][2]string { return d.Rows() }

// Ago is how long ago a moment was, or how far ahead it is.
func (v *view) Ago(t time.Time) string {
	if d := v.Now.Sub(t); d >= 0 {
		return v.T("%s ago", measure.Duration(d))
	}
	return v.T("in %s", measure.Duration(t.Sub(v.Now)))
}

// Clock is a moment, to the millisecond.
func (v *view) Clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000Z") }

// segment is a name as a part of a path.
func segment(name string) string { return url.PathEscape(name) }

// language is the one that a browser's user chose, else the first of his that there is.
func language(r *http.Request) string {
	if c, err := r.Cookie(languageCookie); err == nil && (c.Value == "en" || c.Value == "ja") {
		return c.Value
	}
	for one := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(one), ";")
		switch primary, _, _ := strings.Cut(strings.ToLower(tag), "-"); primary {
		case "en", "ja":
			return primary
		}
	}
	return "en"
}
