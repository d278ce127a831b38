package syslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// shown is a message as a text: its body, and its attributes in their order.
func shown(m *message.Message) string {
	var b strings.Builder
	b.Write(m.Body)
	for _, a := range m.Attributes {
		fmt.Fprintf(&b, "|%s=%s", a.Name, a.Value.Text())
	}
	return b.String()
}

func TestMessagesOfBothFormatsBecomeBodiesAndAttributes(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 10, 0, 0, time.Local)
	year := time.Now().Year()
	for _, c := range []struct{ format, in, want string }{
		{"", `<34>1 2026-10-11T22:14:15.003Z box su 77 ID47 [a@1 b="c" d="e\"f"][g x="y"] ` + "\ufefffailed",
			"failed|a@1.b=c|a@1.d=e\"f|appname=su|facility=auth|g.x=y|hostname=box|msgid=ID47|procid=77|severity=crit|" +
				"timestamp=2026-10-11T22:14:15.003Z|version=1"},
		{"", "<165>1 - - - - - -", "|facility=local4|severity=notice|version=1"},
		{"", "<13>Nov  8 09:00:01 box cron[12]: ran", "ran|appname=cron|facility=user|hostname=box|procid=12|" +
			"severity=notice|timestamp=" + message.Time(time.Date(year, 11, 8, 9, 0, 1, 0, time.Local)).Text()},
		{"rfc5424", "<13>Nov  8 09:00:01 box cron[12]: ran", ""},
		{"", "no syslog at all", ""},
		{"", "", ""},
		{"", "<999>1 - - - - - - x", ""},
	} {
		m, err := newParser(c.format).parse([]byte(c.in), time.Date(year, 12, 1, 0, 0, 0, 0, time.Local))
		if c.want == "" {
			if why, _ := m.Attributes.Get("syslog_error"); err == nil || string(m.Body) != c.in ||
				len(m.Attributes) != 1 || why.AsString() == "" {
				t.Errorf("%q became %s, %v", c.in, shown(m), err)
			}
			continue
		}
		if got := shown(m); err != nil || got != c.want {
			t.Errorf("%q became\n%s, %v, not\n%s", c.in, got, err, c.want)
		}
	}
	text := fmt.Sprintf("<13>%s box a: b", time.Now().AddDate(0, 0, 10).Format(time.Stamp))
	m, err := newParser("").parse([]byte(text), now.AddDate(time.Now().Year()-2027-1, 0, 0))
	if at, _ := m.Attributes.Get("timestamp"); err != nil || !at.AsTime().Before(time.Now()) {
		t.Errorf("a month that has not begun is of %s, %v", at.Text(), err)
	}
}

func TestMoreStructuredDataThanAMessageHasAttributesIsLeftOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("<13>1 - - - - - [a")
	for i := range 2 * message.MaxAttributes {
		fmt.Fprintf(&b, ` p%d="v"`, i)
	}
	b.WriteString("] text")
	m, err := newParser("").parse([]byte(b.String()), time.Now())
	if why, ok := m.Attributes.Get("syslog_error"); err != nil || !ok || len(m.Attributes) >= message.MaxAttributes ||
		string(m.Body) != "text" {
		t.Errorf("%d attributes, %s, %v", len(m.Attributes), why.Text(), err)
	}
}
