package lookup

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
)

// Config are the settings of a lookup.
type Config struct {
	Source      Source        `yaml:"source" required:"true" doc:"Where to look."`
	Key         string        `yaml:"key" doc:"The attribute or field of the message that says what to look for, as in a filter's condition: it is :keys or :key in the question."`
	Into        string        `yaml:"into" doc:"The field of the body that gets what was found. Not set: the name of this transform."`
	Merge       bool          `yaml:"merge" doc:"The fields of what was found become fields of the body itself."`
	Many        bool          `yaml:"many" doc:"Any number of rows may be found, and become a list. Without it two rows for one key are an error."`
	Attributes  []string      `yaml:"attributes" doc:"Fields of what was found that become attributes of the message, too."`
	Batch       int           `yaml:"batch" min:"0" max:"10000" doc:"Keys in one question. Not set: 1000 where the question takes many (:keys), 100 of a queue, else 1."`
	Concurrency int           `yaml:"concurrency" min:"0" max:"1000" doc:"Questions at once. Not set: as the scheduler says."`
	Scheduler   string        `yaml:"scheduler" oneof:"parallel elastic single" default:"parallel" doc:"How many questions are asked at once where concurrency does not say: parallel: a processor's worth each, at least 4; elastic: as many as there is need for, up to 64; single: one after the other."`
	Order       string        `yaml:"order" oneof:"kept any" default:"kept" doc:"kept: messages leave in the order in which they came. any: as they are ready."`
	Timeout     time.Duration `yaml:"timeout" min:"1ms" max:"1h" default:"10s" doc:"How long one question may take."`
	OnMissing   string        `yaml:"on_missing" oneof:"reject pass default" default:"reject" doc:"When nothing is found: reject the message, let it pass with null, or with what stands under default."`
	Default     any           `yaml:"default" doc:"What is taken for found with on_missing: default."`
	OnError     string        `yaml:"on_error" oneof:"retry reject" default:"retry" doc:"When the source cannot be asked: try again (request says how often), or reject the message."`
	Cache       Cache         `yaml:"cache" doc:"Keeps what was found. Failures and what is missing are never kept."`
}

// Source says where to look. Which keys it takes depends on the type.
type Source struct {
	Type string `yaml:"type" required:"true" oneof:"sql http queue static" doc:"sql: a database. http: a server. queue: messages that lie in a queue of this store. static: what stands under values."`
	fetch.SQL
	fetch.HTTP
	Match  string         `yaml:"match" doc:"The field of each row that holds its key. Not set: of sql the first column; of http the answer is an object of keys. Of queue: the column or attribute to compare the key with."`
	Queue  string         `yaml:"queue" doc:"Of queue: its name. Its messages' bodies are what is found, the newest where there are several. Every question walks the queue: it is for some thousands of messages."`
	Values map[string]any `yaml:"values" doc:"Of static: what is found, by key."`
}

// Cache bounds what is kept.
type Cache struct {
	Size int           `yaml:"size" min:"0" max:"10000000" doc:"How many keys. Not set: none."`
	TTL  time.Duration `yaml:"ttl" min:"0s" doc:"For how long. Not set: until there is no room."`
}

// The words of Config.
const (
	schedulerElastic = "elastic"
	schedulerSingle  = "single"
	orderAny         = "any"
	missingPass      = "pass"
	missingDefault   = "default"
	errorReject      = "reject"
)

// Defaults that depend on other settings.
const (
	DefaultBatch      = 1000
	defaultQueueBatch = 100
	elasticLimit      = 64
)

// DefaultTimeout is how long a question may take.
const DefaultTimeout = 10 * time.Second

// concurrency is how many questions may be asked at once.
func (c *Config) concurrency() int {
	switch {
	case c.Concurrency > 0:
		return c.Concurrency
	case c.Scheduler == schedulerSingle:
		return 1
	case c.Scheduler == schedulerElastic:
		return elasticLimit
	}
	return max(4, runtime.GOMAXPROCS(0))
}

// check finds what is wrong whatever the source.
func (c *Config) check() error {
	for _, s := range []struct {
		name, value string
		words       []string
	}{
		{"scheduler", c.Scheduler, []string{"", "parallel", schedulerElastic, schedulerSingle}},
		{"order", c.Order, []string{"", "kept", orderAny}},
		{"on_missing", c.OnMissing, []string{"", "reject", missingPass, missingDefault}},
		{"on_error", c.OnError, []string{"", "retry", errorReject}},
	} {
		if !among(s.words, s.value) {
			return component.Setting(s.name, fmt.Errorf("%q is none of %s", s.value, strings.Join(s.words[1:], ", ")))
		}
	}
	switch {
	case c.Scheduler == schedulerSingle && c.Concurrency > 1:
		return component.Setting("concurrency",
			errors.New("stands beside scheduler: single, which asks one question at a time"))
	case c.OnMissing == missingDefault && c.Default == nil:
		return component.Setting("on_missing", errors.New("is default, and there is no default"))
	case c.OnMissing != missingDefault && c.Default != nil:
		return &component.SettingError{Setting: "default", Offset: -1, Err: errors.New("is never used"),
			Hint: "set on_missing: default"}
	case c.Merge && c.Into != "":
		return component.Setting("into", errors.New("stands beside merge: what is found goes to one place"))
	case c.Merge && c.Many:
		return component.Setting("merge", errors.New("stands beside many: a list has no fields"))
	case c.Many && len(c.Attributes) > 0:
		return component.Setting("attributes", errors.New("stands beside many: they are of one row"))
	case c.Cache.Size == 0 && c.Cache.TTL > 0:
		return component.Setting("cache.size", errors.New("is missing: how many keys are to be kept?"))
	case c.Timeout < 0, c.Batch < 0, c.Concurrency < 0, c.Cache.Size < 0, c.Cache.TTL < 0:
		return component.Setting("timeout", errors.New("numbers and durations are not negative here"))
	}
	return c.Source.belongs()
}

func among(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// belongs finds settings of another type of source.
func (s *Source) belongs() error {
	for _, k := range []struct {
		name  string
		set   bool
		types string
	}{
		{"database", s.Database != "", "sql"},
		{"query", s.Query != "", "sql"},
		{"max_connections", s.MaxConnections != 0, "sql"},
		{"url", s.URL != "", "http"},
		{"method", s.Method != "", "http"},
		{"headers", len(s.Headers) > 0, "http"},
		{"body", s.Body != "", "http"},
		{"items", s.Items != "", "http"},
		{"match", s.Match != "", "sql http queue"},
		{"queue", s.Queue != "", "queue"},
		{"values", s.Values != nil, "static"},
	} {
		if k.set && !among(strings.Fields(k.types), s.Type) {
			return component.Setting("source."+k.name, fmt.Errorf("a source of type %s has no %s", s.Type, k.name))
		}
	}
	return nil
}
