package http

import (
	"net/http"

	"github.com/hikyaku/hikyaku/internal/access"
)

// showMay tells who asks what he may do with a name, so that a page or a program offers nothing else.
func showMay(c *call) error {
	if err := c.only(); err != nil {
		return err
	}
	n, err := c.name("name")
	if err != nil {
		return err
	}
	m := May{Can: []string{}}
	if c.user != nil {
		m.User = c.user.Name
	}
	for _, action := range access.Actions() {
		if c.may(action, n) == nil {
			m.Can = append(m.Can, string(action))
		}
	}
	return c.w.json(http.StatusOK, m)
}
