package main

import (
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/pipeline"
)

// noticing is a component that says what it noticed; ok is false for one that says nothing.
func noticing(n *pipeline.Node) (c interface{ Notices() []string }, ok bool) {
	var component any
	switch {
	case n.Source != nil:
		component = n.Source
	case n.Transform != nil:
		component = n.Transform
	default:
		component = n.Sink
	}
	c, ok = component.(interface{ Notices() []string })
	return c, ok
}

// describe is what the configuration, as it was read last, says of a component, and what this one has noticed.
func (h *house) describe(w *works) func(component string) httpdoor.ComponentSettings {
	return func(component string) (s httpdoor.ComponentSettings) {
		kind, settings, _ := h.secrets.Load().Component(component)
		s.Type = kind
		for _, one := range settings {
			s.Settings = append(s.Settings, httpdoor.ComponentSetting{Name: one.Name, Text: one.Text})
		}
		nodes := w.Nodes()
		for i := range nodes {
			if c, ok := noticing(&nodes[i]); ok && nodes[i].Name == component {
				s.Notices = c.Notices()
			}
		}
		return s
	}
}
