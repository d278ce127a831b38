package lookup

import (
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
)

func TestSettingsAreChecked(t *testing.T) {
	ok := Config{Key: "id", Source: bySQL("x.db", "select id, a from t where id in (:keys)")}
	one := bySQL("x.db", "select a from t where id = :id")
	static := Source{Type: "static", Values: map[string]any{"a": 1}}
	change := func(f func(c *Config)) Config {
		c := ok
		f(&c)
		return c
	}
	for _, c := range []struct {
		setting string
		offset  int
		config  Config
	}{
		{"source.type", -1, Config{}},
		{"source.type", -1, Config{Source: Source{Type: "ldap"}}},
		{"source.database", -1, Config{Source: Source{Type: "sql"}}},
		{"source.query", -1, Config{Source: bySQL("x.db", "")}},
		{"source.query", 7, Config{Source: bySQL("x.db", "select 'a")}},
		{"source.query", -1, Config{Source: bySQL("x.db", "select 1")}},
		{"source.query", -1, change(func(c *Config) { c.Source = one })},
		{"source.query", -1, change(func(c *Config) { c.Source.Query += " and lang = :lang" })},
		{"key", -1, change(func(c *Config) { c.Key = "" })},
		{"batch", -1, Config{Source: one, Batch: 10}},
		{"source.url", -1, change(func(c *Config) { c.Source.URL = "http://h" })},
		{"source.match", -1, Config{Key: "a", Source: Source{Type: "static", Values: map[string]any{"a": 1},
			Match: "a"}}},
		{"source.values", -1, Config{Key: "a", Source: Source{Type: "static"}}},
		{"key", -1, Config{Source: static}},
		{"source.values.a", -1, Config{Key: "a", Merge: true, Source: static}},
		{"source.queue", -1, Config{Key: "a", Source: Source{Type: "queue"}}},
		{"source.match", -1, Config{Key: "a", Source: Source{Type: "queue", Queue: "q"}}},
		{"source.match", -1, Config{Key: "a", Source: Source{Type: "queue", Queue: "q", Match: "a = 1 or b"}}},
		{"source.url", -1, Config{Source: Source{Type: "http"}}},
		{"source.url", -1, Config{Source: Source{Type: "http", HTTP: fetch.HTTP{URL: "http://h/"}}}},
		{"scheduler", -1, change(func(c *Config) { c.Scheduler = "fast" })},
		{"order", -1, change(func(c *Config) { c.Order = "none" })},
		{"on_error", -1, change(func(c *Config) { c.OnError = "ignore" })},
		{"on_missing", -1, change(func(c *Config) { c.OnMissing = "drop" })},
		{"on_missing", -1, change(func(c *Config) { c.OnMissing = "default" })},
		{"default", -1, change(func(c *Config) { c.Default = 1 })},
		{"default", -1, change(func(c *Config) { c.OnMissing, c.Default, c.Merge = "default", 1, true })},
		{"into", -1, change(func(c *Config) { c.Into, c.Merge = "a", true })},
		{"merge", -1, change(func(c *Config) { c.Many, c.Merge = true, true })},
		{"attributes", -1, change(func(c *Config) { c.Many, c.Attributes = true, []string{"a"} })},
		{"concurrency", -1, change(func(c *Config) { c.Scheduler, c.Concurrency = "single", 2 })},
		{"cache.size", -1, change(func(c *Config) { c.Cache.TTL = time.Second })},
	} {
		_, err := New(c.config, component.Env{Name: "user"})
		var e *component.SettingError
		if !errors.As(err, &e) || e.Setting != c.setting || e.Offset != c.offset {
			t.Errorf("%+v: got %v, want an error about %s at %d", c.config, err, c.setting, c.offset)
		}
	}
	if _, err := New(ok, component.Env{Name: "user"}); err != nil {
		t.Error(err)
	}
}

func TestASchedulerSaysHowManyQuestionsAreAskedAtOnce(t *testing.T) {
	for _, c := range []struct {
		config Config
		least  int
		most   int
	}{{Config{}, 4, 1024}, {Config{Scheduler: "elastic"}, 64, 64}, {Config{Scheduler: "single"}, 1, 1},
		{Config{Scheduler: "elastic", Concurrency: 7}, 7, 7}} {
		if n := c.config.concurrency(); n < c.least || n > c.most {
			t.Errorf("%+v asks %d at once", c.config, n)
		}
	}
}
