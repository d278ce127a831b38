package lines

import (
	"fmt"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Template is a text with places for what a message is: "{name}" is an attribute, and "%Y/%m/%d" and the like are the
// message's time, in UTC. It may be used by several goroutines at once.
type Template struct {
	texts []string // before each name, and behind the last
	names []string
}

// NewTemplate reads a template. "%%" in it is one percent sign.
func NewTemplate(text string) (*Template, error) {
	t := &Template{}
	for rest := text; ; {
		before, behind, open := strings.Cut(rest, "{")
		// What is not known stays as it is written.
		if strings.Contains(strftime.Format(strings.ReplaceAll(before, "%%", ""), time.Unix(0, 0)), "%") {
			return nil, fmt.Errorf("%q has a %% that is no part of a time: those are %%Y, %%m, %%d, %%H and the like; "+
				"a percent sign is %%%%", text)
		}
		t.texts = append(t.texts, before)
		if !open {
			return t, nil
		}
		name, after, closed := strings.Cut(behind, "}")
		if !closed || name == "" {
			return nil, fmt.Errorf("%q has a { without the name of an attribute and a }", text)
		}
		t.names, rest = append(t.names, name), after
	}
}

// Fixed tells whether the text is the same for all messages.
func (t *Template) Fixed() bool { return len(t.names) == 0 && !strings.Contains(t.texts[0], "%") }

// Render is the text for a message. clean makes of an attribute's text what may stand in the place. An attribute that
// the message lacks, or that is empty, is an error.
func (t *Template) Render(m *message.Message, clean func(string) string) (string, error) {
	if len(t.names) == 0 && !strings.Contains(t.texts[0], "%") {
		return t.texts[0], nil
	}
	var out []byte
	for i, text := range t.texts {
		if i > 0 {
			v, _ := m.Attributes.Get(t.names[i-1])
			if v.IsNull() || v.Text() == "" {
				return "", fmt.Errorf("the attribute %s is missing", t.names[i-1])
			}
			out = append(out, clean(v.Text())...)
		}
		out = strftime.AppendFormat(out, text, m.Time.UTC())
	}
	return string(out), nil
}
