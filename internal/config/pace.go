package config

import (
	"errors"
	"strings"

	"github.com/hikyaku/hikyaku/pace"
)

// Pace is a rate as people write it; zero is none.
type Pace struct{ pace.Rate }

// UnmarshalText reads 60/s, 59.94/s, 60000/1001/s and 100/min.
func (p *Pace) UnmarshalText(text []byte) error {
	r, err := pace.ParseRate(string(text))
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), pace.ErrRate.Error()+": "))
	}
	p.Rate = r
	return nil
}

func (Pace) describeType() string { return "a rate, such as `59.94/s`" }

// paced refuses what says otherwise than a sink's pace.
func (d *decoder) paced(p *part) {
	if p.node.get("pace") == nil {
		return
	}
	if batch := p.node.get("batch"); batch != nil {
		d.at(p.node.find("batch").at, "leave one of them out",
			"%s has a pace and a batch: what has a pace is sent one by one", p.path)
	}
	if r := p.node.get("request"); r != nil && r.get("rate_limit_num") != nil {
		d.at(r.find("rate_limit_num").at, "leave one of them out", "%s has a pace and %s.request a rate_limit_num",
			p.path, p.path)
	}
}
