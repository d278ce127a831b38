package http

import (
	_ "embed"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

//go:embed openapi.yaml
var openAPI []byte

type healthAnswer struct {
	Status string `json:"status"`
}

// health answers as long as the process can.
func health(c *call) error { return c.w.json(http.StatusOK, healthAnswer{"ok"}) }

// ready answers whether a message would be taken. Everyone may ask, so an answer tells the kind of what is wrong and
// nothing of the machine.
func ready(c *call) error {
	if c.d.stopping.Err() != nil {
		return notReady.problem("the server is stopping").because(problemFor(queue.ErrClosed))
	}
	err := c.d.store.Ready(c.ctx())
	if err == nil && c.d.failed.Load() {
		err = queue.ErrUnavailable
	}
	if err != nil {
		return notReadyFor(err)
	}
	if c.d.ready != nil {
		if err := c.d.ready(c.ctx()); err != nil {
			return notReady.problem(err.Error())
		}
	}
	return c.w.json(http.StatusOK, healthAnswer{"ready"})
}

// notReadyFor tells why the store would take no message, and of several shards which ones.
func notReadyFor(err error) error {
	where := ""
	var of interface {
		error
		Shards() []int
	}
	if errors.As(err, &of) {
		where = namesOf(of.Shards())
	}
	var full *queue.FullError // of the whole store: it names nothing
	for _, k := range kinds {
		switch {
		case !errors.Is(err, k.err):
		case errors.As(err, &full):
			return notReady.problem(where + full.Error()).because(k)
		default:
			return notReady.problem(where + k.title).because(k)
		}
	}
	return notReady.problem(where + "the store takes no messages").because(internal)
}

// namesOf are shards before what is said of them.
func namesOf(shards []int) string {
	numbers := make([]string, len(shards))
	for i, n := range shards {
		numbers[i] = strconv.Itoa(n)
	}
	what := "shard "
	if len(shards) > 1 {
		what = "shards "
	}
	return what + strings.Join(numbers, ", ") + ": "
}

// because names the kind of problem that a put would be answered with.
func (p *Problem) because(k kind) *Problem {
	p.Reason = k.word
	return p.withHint(k.hint)
}

// describe serves the description of the door.
func describe(c *call) error {
	c.w.Header().Set("Content-Type", "application/yaml")
	c.w.Header().Set("Content-Length", strconv.Itoa(len(openAPI)))
	_, err := c.w.Write(openAPI)
	return err
}
