package http

import (
	_ "embed"
	"net/http"
	"strconv"
)

//go:embed openapi.yaml
var openAPI []byte

type healthAnswer struct {
	Status string `json:"status"`
}

// health answers as long as the process can.
func health(c *call) error { return c.w.json(http.StatusOK, healthAnswer{"ok"}) }

// ready answers whether messages would be taken.
func ready(c *call) error {
	if c.d.stopping.Err() != nil {
		return notReady.problem("the server is stopping")
	}
	if c.d.failed.Load() {
		return notReady.problem("the store takes nothing until a restart").withHint("see the log of the server for the cause, and restart it")
	}
	if c.d.ready != nil {
		if err := c.d.ready(c.ctx()); err != nil {
			return notReady.problem(err.Error())
		}
	}
	return c.w.json(http.StatusOK, healthAnswer{"ready"})
}

// describe serves the description of the door.
func describe(c *call) error {
	c.w.Header().Set("Content-Type", "application/yaml")
	c.w.Header().Set("Content-Length", strconv.Itoa(len(openAPI)))
	_, err := c.w.Write(openAPI)
	return err
}
