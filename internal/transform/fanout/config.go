package fanout

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
)

// Config are the settings of a fanout.
type Config struct {
	Source     Source        `yaml:"source" required:"true" doc:"What gives the items."`
	Key        string        `yaml:"key" doc:"The field of an item that tells it from all others, so that none is made twice when the message comes again. Not set: its place among them, for answers that never change."`
	Into       string        `yaml:"into" doc:"The field that gets the item, in the body of the message that it is made of. Not set: the item is the body."`
	Attributes []string      `yaml:"attributes" doc:"Fields of an item that become attributes, beside those of the message that it is made of."`
	OrderKey   string        `yaml:"order_key" doc:"The field of an item that becomes the message's key, for its order. Not set: no key."`
	Start      any           `yaml:"start" doc:"The value of :after for the first page, below every key: 0 for numbers, '' for texts."`
	Page       int           `yaml:"page" min:"1" max:"4000" default:"1000" doc:"Items that are read and remembered at a time; the value of :limit."`
	Timeout    time.Duration `yaml:"timeout" min:"1ms" max:"1h" default:"10s" doc:"How long the source may take for a page."`
	Remember   *bool         `yaml:"remember" doc:"Keep durably which items are settled. Not set: true. Without it a message that comes again after a crash is made into all of its items again."`
}

// Source says what gives the items. Which keys it takes depends on the type.
type Source struct {
	Type string `yaml:"type" required:"true" oneof:"sql http body" doc:"sql: the rows of a query. http: the items of an answer. body: a list in the message."`
	fetch.SQL
	fetch.HTTP
	Next string `yaml:"next" doc:"Of http: where in an answer the address of the next page is. Without it, and without {after}, there is one page."`
}

// Names in questions that the transform itself gives their values.
const (
	nameAfter = "after"
	nameLimit = "limit"
)

// DefaultPage is how many items are read at a time.
const DefaultPage = 1000

// DefaultTimeout is how long a page may take.
const DefaultTimeout = 10 * time.Second

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.Page == 0 {
		c.Page = DefaultPage
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	return c
}

// check finds what is wrong whatever the source.
func (c *Config) check() error {
	switch {
	case c.Page < 1 || c.Page > 4000:
		return component.Setting("page", fmt.Errorf("%d is not between 1 and 4000", c.Page))
	case c.Timeout < 0:
		return component.Setting("timeout", fmt.Errorf("%v is negative", c.Timeout))
	case c.Source.Type == "":
		return component.Setting("source.type", errors.New("is missing: sql, http or body"))
	}
	for _, k := range []struct {
		name  string
		set   bool
		types string
	}{
		{"database", c.Source.Database != "", "sql"},
		{"query", c.Source.Query != "", "sql"},
		{"max_connections", c.Source.MaxConnections != 0, "sql"},
		{"url", c.Source.URL != "", "http"},
		{"method", c.Source.Method != "", "http"},
		{"headers", len(c.Source.Headers) > 0, "http"},
		{"body", c.Source.Body != "", "http"},
		{"next", c.Source.Next != "", "http"},
		{"items", c.Source.Items != "", "http body"},
	} {
		if k.set && !strings.Contains(" "+k.types+" ", " "+c.Source.Type+" ") {
			return component.Setting("source."+k.name, fmt.Errorf("a source of type %s has no %s", c.Source.Type,
				k.name))
		}
	}
	return nil
}

// checkPages finds what is wrong with a question that is asked page by page. setting is where the question stands.
func (c *Config) checkPages(uses func(name string) bool, setting string, spelled func(name string) string) error {
	switch after := uses(nameAfter); {
	case uses(fetch.Keys):
		return component.Setting(setting, fmt.Errorf("has %s, which only a lookup knows", spelled(fetch.Keys)))
	case !after && c.Start != nil:
		return &component.SettingError{Setting: "start", Offset: -1, Err: errors.New("is never used"),
			Hint: "it is the first value of " + spelled(nameAfter)}
	case !after && uses(nameLimit):
		return component.Setting(setting, fmt.Errorf("has a limit, and nothing says where the next page begins: "+
			"write %s, too", spelled(nameAfter)))
	case after && c.Key == "":
		return component.Setting("key", fmt.Errorf("is missing: %s is the key of the last item of the page before",
			spelled(nameAfter)))
	case after && c.Start == nil:
		return &component.SettingError{Setting: "start", Offset: -1,
			Err:  fmt.Errorf("is missing: what is %s for the first page?", spelled(nameAfter)),
			Hint: "0 for keys that are numbers, '' for texts"}
	}
	return nil
}

// startValue is Start as JSON.
func (c *Config) startValue() (json.RawMessage, error) {
	if c.Start == nil {
		return nil, nil
	}
	text, err := json.Marshal(c.Start)
	if err != nil {
		return nil, component.Setting("start", err)
	}
	if _, ok := fetch.Scalar(text); !ok {
		return nil, component.Setting("start", errors.New("is neither a text nor a number"))
	}
	return text, nil
}
