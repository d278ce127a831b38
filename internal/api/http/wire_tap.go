package http

import (
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TapLine is a line of what a tap is told: the first one has Tapping, the last one of a server that stops has Stopped.
type TapLine struct {
	*Tapped
	Tapping *Tapping `json:"tapping,omitempty"`
	// Dropped is how many events were lost here, since they were not read in time.
	Dropped uint64 `json:"dropped,omitempty"`
	Stopped string `json:"stopped,omitempty"` // why no more lines come
}

// Tapping says what is tapped: one of them.
type Tapping struct {
	Queue string `json:"queue,omitempty"` // or topic, as namespace/name
	Step  string `json:"step,omitempty"`  // a component
}

// Tapped is what happened to a message.
type Tapped struct {
	JourneyHop
	ID      string   `json:"id"`
	Content *Content `json:"content,omitempty"` // not with hops that are told of by the id alone
	Size    int      `json:"size,omitempty"`    // bytes of the whole body
	Cut     bool     `json:"cut,omitempty"`     // the body in Content is its beginning
}

// tapMargin is what is left out at the end of a body that a tap has not as a whole: a secret may go on behind it.
const tapMargin = 4 << 10

// tapped is an event as clients see it: the first bytes of the body, without secrets.
func (c *call) tapped(e *journey.Tapped, most int) *Tapped {
	hide := c.d.secrets().Mask
	step := journey.Step{Kind: e.Kind, Time: time.Unix(0, e.Time), Place: e.Place, By: e.By, Attempt: e.Attempt,
		For: e.For, Text: hide(e.Text)}
	t := &Tapped{JourneyHop: shownHop(&step), ID: e.ID.String(), Size: e.Size}
	if e.Message == nil {
		return t
	}
	m := e.Message
	m.ID = e.ID
	body, whole := m.Body, e.Size <= len(m.Body)
	if !whole {
		body = body[:max(0, len(body)-tapMargin)]
	}
	body = []byte(hide(string(body)))
	t.Cut = !whole || len(body) > most
	body = beginning(body, most)
	for i := range m.Attributes {
		a := &m.Attributes[i]
		switch a.Value.Kind() {
		case message.KindString:
			a.Value = message.String(hide(a.Value.AsString()))
		case message.KindBytes:
			a.Value = message.Bytes([]byte(hide(a.Value.AsString())))
		}
	}
	m.Key, m.Dedup = hide(m.Key), hide(m.Dedup)
	if m.Death != nil {
		m.Death.Reason = hide(m.Death.Reason)
	}
	shown := content(m, body, m.Row != nil)
	t.Content = &shown
	return t
}

// beginning is the first bytes of a body, at most so many. Of a text no character is cut in two.
func beginning(body []byte, most int) []byte {
	if len(body) <= most {
		return body
	}
	n := most
	for n > 0 && n > most-utf8.UTFMax && !utf8.RuneStart(body[n]) {
		n--
	}
	return body[:n]
}
