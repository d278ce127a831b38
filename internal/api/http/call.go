package http

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// call is one request on its way through a handler.
type call struct {
	d       *Server
	w       *response
	r       *http.Request
	user    *access.User // nil without users, and on paths that everyone may see
	hold    door.Hold    // of the bytes that requests and answers may take
	started time.Time
}

func (c *call) ctx() context.Context { return c.r.Context() }

// name reads a segment of the path as the name of a queue or topic in the path's namespace.
func (c *call) name(segment string) (queue.Name, error) {
	return c.resolve(queue.Name{Namespace: c.r.PathValue("ns"), Name: c.r.PathValue(segment)})
}

// named reads a name from a request's body: in the path's namespace, or namespace/name.
func (c *call) named(text string) (queue.Name, error) {
	return c.resolve(relative(c.r.PathValue("ns"), text))
}

// relative is queue.ParseName with another namespace for names that do not say one.
func relative(namespace, text string) queue.Name {
	for i := range len(text) {
		if text[i] == '/' {
			return queue.Name{Namespace: text[:i], Name: text[i+1:]}
		}
	}
	return queue.Name{Namespace: namespace, Name: text}
}

func (c *call) resolve(n queue.Name) (queue.Name, error) {
	if err := n.Check(); err != nil {
		return n, err
	}
	return c.d.store.Resolve(n), nil
}

// may refuses what the user was not granted.
func (c *call) may(action access.Action, n queue.Name) error {
	if c.d.users.Allowed(c.user, action, n) {
		return nil
	}
	if !c.d.users.Any() {
		return c.sameAccount()
	}
	return forbidden.problemf("user %s may not %s %s", c.user.Name, action, n.Short()).
		withHint(fmt.Sprintf("grant it in the configuration: users: … grants: [{can: [%s], on: [%q]}]", action,
			n.String()))
}

// sameAccount refuses, without users, other accounts of this machine.
func (c *call) sameAccount() error {
	var other *access.LocalError
	if errors.As(c.d.users.Local(caller.From(c.ctx())), &other) {
		return forbidden.problem(other.Error()).withHint(other.Hint())
	}
	return nil
}

// on is name and may in one.
func (c *call) on(action access.Action, segment string) (queue.Name, error) {
	n, err := c.name(segment)
	if err != nil {
		return n, err
	}
	if err := c.may(action, n); err != nil {
		return n, err
	}
	if action == access.Admin {
		c.acts()
	}
	return n, nil
}

// mediaType is the request's content type without its parameters.
func (c *call) mediaType() (string, error) {
	header := c.r.Header.Get("Content-Type")
	if header == "" {
		return "", nil
	}
	t, _, err := mime.ParseMediaType(header)
	if err != nil {
		return "", badType.problemf("Content-Type %.60q: %v", header, err)
	}
	return t, nil
}

// jsonType is the media type of what is not a stream.
const jsonType = "application/json"

// decode reads a JSON body. Without required, no body at all leaves into as it is.
func (c *call) decode(into any, required bool) error {
	t, err := c.mediaType()
	if err != nil {
		return err
	}
	data, err := c.body(true)
	if err != nil {
		return err
	}
	if len(data) == 0 && !required {
		return nil
	}
	if t != jsonType {
		return badType.problemf("the body is %s",
			or(t, "of no Content-Type")).withHint("send JSON with Content-Type: application/json")
	}
	return decode(data, into)
}

// number reads a query parameter; absent is 0.
func (c *call) number(name string, most uint64) (uint64, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err == nil && n <= most:
		return n, nil
	case err == nil, errors.Is(err, strconv.ErrRange), isInteger(text):
		return 0, badRequest.problemf("%s is %.40s: it must be between 0 and %d", name, text, most)
	}
	return 0, badRequest.problemf("%s is %.40q: it takes a number between 0 and %d", name, text, most)
}

// isInteger tells whether a text is a whole number, also a negative one.
func isInteger(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// flag reads a query parameter that is true or false; absent is false.
func (c *call) flag(name string) (bool, error) {
	text := c.r.URL.Query().Get(name)
	switch text {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	}
	return false, badRequest.problemf("%s=%.40s is neither true nor false", name, text)
}

// only refuses query parameters that the path does not know: a misspelt one must not be taken for absent.
func (c *call) only(names ...string) error {
next:
	for have := range c.r.URL.Query() {
		for _, n := range names {
			if n == have {
				continue next
			}
		}
		return badRequest.problemf("there is no parameter %.60q here",
			have).withHint("GET /openapi.yaml names the parameters of every path")
	}
	return nil
}

// within refuses a number of things that is out of bounds.
func within(what string, n, most int) error {
	if n < 0 || n > most {
		return badRequest.problemf("%s is %d: it must be between 0 and %d", what, n, most)
	}
	return nil
}
