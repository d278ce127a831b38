package syslog

import (
	"maps"
	"slices"
	"strings"
	"time"

	syslog "github.com/leodido/go-syslog/v4"
	"github.com/leodido/go-syslog/v4/rfc3164"
	"github.com/leodido/go-syslog/v4/rfc5424"

	"github.com/hikyaku/hikyaku/internal/message"
)

// parser makes messages of texts. It is not for use by several goroutines at once.
type parser struct {
	format   string
	new, old syslog.Machine
}

func newParser(format string) *parser {
	return &parser{format: format, new: rfc5424.NewParser(), old: rfc3164.NewParser(
		rfc3164.WithYear(rfc3164.CurrentYear{}), rfc3164.WithTimezone(time.Local), rfc3164.WithRFC3339(),
		rfc3164.WithSecondFractions(), rfc3164.WithLenientDay(), rfc3164.WithEmbeddedNewlines())}
}

// parse makes a message of a text. With an error it has the whole text, and an attribute that says why.
func (p *parser) parse(text []byte, now time.Time) (*message.Message, error) {
	m := &message.Message{ID: message.NewID(), Time: now}
	m.Hops.Mark(message.Accepted, now)
	var err error
	if p.format == "rfc5424" || p.format != "rfc3164" && versioned(text) {
		err = p.parseNew(m, text)
	} else {
		err = p.parseOld(m, text, now)
	}
	if err != nil {
		m.Body = append([]byte(nil), text...)
		m.Attributes = nil
		set(m, "syslog_error", err.Error())
	}
	return m, err
}

// versioned tells whether a number and a space stand behind the priority, as in RFC 5424: in RFC 3164 a month does.
func versioned(text []byte) bool {
	_, rest, ok := strings.Cut(string(text[:min(len(text), 8)]), ">")
	return ok && len(rest) > 1 && '1' <= rest[0] && rest[0] <= '9' && strings.Contains(rest[1:min(len(rest), 4)], " ")
}

func (p *parser) parseNew(m *message.Message, text []byte) error {
	parsed, err := p.new.Parse(text)
	if err != nil {
		return err
	}
	s := parsed.(*rfc5424.SyslogMessage)
	m.Attributes.Set("version", message.Int(int64(s.Version)))
	base(m, &s.Base)
	m.Body = []byte(strings.TrimPrefix(string(m.Body), "\ufeff")) // RFC 5424 marks UTF-8 by it
	if s.StructuredData == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(*s.StructuredData)) {
		for _, name := range slices.Sorted(maps.Keys((*s.StructuredData)[id])) {
			if len(m.Attributes) >= message.MaxAttributes-2 { // source_ip is to come
				set(m, "syslog_error", "there is more structured data than a message has attributes")
				return nil
			}
			set(m, id+"."+name, (*s.StructuredData)[id][name])
		}
	}
	return nil
}

func (p *parser) parseOld(m *message.Message, text []byte, now time.Time) error {
	parsed, err := p.old.Parse(text)
	if err != nil {
		return err
	}
	s := parsed.(*rfc3164.SyslogMessage)
	if t := s.Timestamp; t != nil && t.After(now.AddDate(0, 0, 2)) {
		*t = t.AddDate(-1, 0, 0) // it has no year: in January, one of December is of the year before
	}
	base(m, &s.Base)
	return nil
}

// base sets what both formats have, by the names that other collectors give it.
func base(m *message.Message, b *syslog.Base) {
	if b.Message != nil {
		m.Body = []byte(*b.Message)
	}
	if b.Timestamp != nil {
		m.Attributes.Set("timestamp", message.Time(*b.Timestamp))
	}
	for name, value := range map[string]*string{
		"appname": b.Appname, "facility": b.FacilityLevel(), "hostname": b.Hostname, "msgid": b.MsgID,
		"procid": b.ProcID, "severity": b.SeverityShortLevel(),
	} {
		if value != nil {
			set(m, name, *value)
		}
	}
}

// set sets a text, which others sent.
func set(m *message.Message, name, value string) {
	m.Attributes.Set(strings.ToValidUTF8(name, "\ufffd"), message.String(strings.ToValidUTF8(value, "\ufffd")))
}
