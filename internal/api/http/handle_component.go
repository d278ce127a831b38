package http

import (
	"net/http"

	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Bounds of what is told of one component.
const (
	maxSettings    = 500
	maxSettingText = 4 << 10
	maxNotices     = 20
)

// showComponent tells all about one step of a pipeline.
func showComponent(c *call) error {
	if err := c.overAll("see components"); err != nil {
		return err
	}
	if err := c.only(); err != nil {
		return err
	}
	name := c.r.PathValue("component")
	n := c.d.node(name)
	if n == nil {
		return noComponent.problemf("there is no component %.100q", name)
	}
	g, err := c.d.busiest.look(c.ctx())
	if err != nil {
		return err
	}
	hide := c.d.secrets().Mask
	a := Component{TopComponent: TopComponent{Name: n.Name, Kind: n.Kind}, Over: g.over,
		Settings: []ComponentSetting{}, Taken: n.In, Made: n.Out, Delivered: n.Delivered, Dead: n.Dead,
		Dropped: n.Dropped, Panics: n.Panics, Waiting: n.Waiting, Sleeping: n.Sleeping, Busy: n.Busy, Limit: n.Limit,
		Requests: n.Requests, Sent: n.Sent, Counts: n.Counts, LastError: hide(n.LastError),
		LastErrorTime: timeOrNil(n.LastErrorTime)}
	for i := range g.components {
		if t := &g.components[i]; t.Name == name {
			a.TopComponent = *t
		}
	}
	a.InFlight, a.Retried, a.Rejected = n.InFlight, n.Retries, n.Rejected
	if n.DeadLetter != "" {
		a.DeadLetter = c.d.store.Resolve(relative(queue.DefaultNamespace, n.DeadLetter)).String()
	}
	if c.d.describe != nil {
		a.describe(c.d.describe(name), hide)
	}
	return c.w.json(http.StatusOK, a)
}

// node is what a step of the pipelines has done; nil: there is none of that name.
func (s *Server) node(name string) *pipeline.NodeStats {
	if s.components == nil {
		return nil
	}
	for _, n := range s.components() {
		if n.Name == name {
			return &n
		}
	}
	return nil
}

// describe adds what the configuration says of it, within bounds.
func (a *Component) describe(s ComponentSettings, hide func(string) string) {
	a.Type = s.Type
	for _, one := range s.Settings[:min(len(s.Settings), maxSettings)] {
		one.Text = cutText(one.Text)
		a.Settings = append(a.Settings, one)
	}
	for _, text := range s.Notices[max(0, len(s.Notices)-maxNotices):] {
		a.Notices = append(a.Notices, cutText(hide(text)))
	}
}

func cutText(text string) string {
	if len(text) <= maxSettingText {
		return text
	}
	return string(beginning([]byte(text), maxSettingText)) + "…"
}
