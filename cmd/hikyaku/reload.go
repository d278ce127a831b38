package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/pipeline"
)

// reloadable are the parts of a configuration that are taken while hikyaku runs, and changeable those that are where
// pipelines can be changed: in serve.
var (
	reloadable = []string{"users", "outbound", "log.level", "journal.scrub", "cluster.peers"}
	changeable = []string{"sources", "transforms", "sinks", "queues", "topics", "functions"}
)

// namesShown is how many settings and components the log names at most, of each kind.
const namesShown = 20

// difference is what reading the configuration again changes, or would change.
type difference struct {
	changed []string // settings that are taken, and parts of the configuration
	later   []string // settings that a restart takes
	pipeline.Change
}

// reload reads the configuration again and takes of it what can be taken while running. What cannot be read or is wrong
// changes nothing. It never ends anything but the parts of pipelines that have changed.
func (h *house) reload(path string) {
	if path == "" {
		h.log.Info("SIGHUP: there is no configuration to read again")
		return
	}
	if next := readAgain(h.log, path); next != nil {
		h.reread(next)
	}
}

// readAgain reads a configuration that may have changed; nil: it is wrong, which it has said.
func readAgain(log *slog.Logger, path string) *config.File {
	next, err := config.Load(path, os.LookupEnv)
	if err != nil {
		log.Error("SIGHUP: the configuration is wrong, and all settings stay as they were", "error", err, "hint",
			"hikyaku validate -c "+path)
		return nil
	}
	return next
}

// reread takes from a configuration what can be taken while the house is open, and says so.
func (h *house) reread(next *config.File) {
	if d, err := h.rereadNow(next, false); err != nil {
		h.log.Error("SIGHUP: the configuration is not taken, and all settings stay as they were", "error", err)
	} else {
		h.sayReread("SIGHUP: ", d)
	}
}

func (h *house) sayReread(by string, d difference) {
	h.log.Info(by+"the configuration was read again", "changed", d.changed, "stopped", few(d.Stopped), "started",
		few(d.Started), "files_of_secrets", "read", "certificates", "follow their files", "needs_restart", few(d.later))
}

// reloadNow reads the configuration again for somebody who waits for what comes of it. only: it changes nothing.
func (h *house) reloadNow(path string, only bool) (d difference, err error) {
	if path == "" {
		return d, httpdoor.ErrNoReload
	}
	next, err := config.Load(path, os.LookupEnv)
	if err != nil {
		return d, err
	}
	if d, err = h.rereadNow(next, only); err == nil && !only {
		h.sayReread("", d)
	}
	return d, err
}

// rereadNow takes from a configuration what can be taken, or only tells what that would change.
func (h *house) rereadNow(next *config.File, only bool) (d difference, err error) {
	h.rereading.Lock()
	defer h.rereading.Unlock()
	if only {
		d, _, err = h.difference(next)
		return d, err
	}
	return h.adopt(next)
}

// wire is a difference as the HTTP door tells it.
func (d *difference) wire() httpdoor.Reloaded {
	return httpdoor.Reloaded{Changed: d.changed, Stopped: d.Stopped, Started: d.Started, NeedsRestart: d.later}
}

// difference tells what adopt would change. It has looked whether that can be. The caller holds rereading.
func (h *house) difference(next *config.File) (d difference, nodes []pipeline.Node, err error) {
	taken := reloadable
	if h.works != nil {
		taken = slices.Concat(reloadable, changeable)
	}
	d.changed, _ = sortOut(h.loaded.Changed(next), taken)
	_, d.later = sortOut(h.file.Changed(next), taken)
	if _, err := access.New(next.Users); err != nil {
		return d, nil, err
	}
	if h.works == nil {
		return d, nil, nil
	}
	built, err := next.Build(h.store, h.env)
	if err != nil {
		return d, nil, mistakesIn(next, err)
	}
	d.Change, err = h.works.Plan(built.Nodes, h.same(next))
	return d, built.Nodes, err
}

func (h *house) same(next *config.File) func(component string) bool {
	return func(component string) bool { return h.loaded.Same(next, component) }
}

// adopt makes what runs that of another configuration, as far as that can be while it runs: all of it, or after an
// error nothing. The caller holds rereading.
func (h *house) adopt(next *config.File) (difference, error) {
	d, nodes, err := h.difference(next)
	if err != nil {
		return d, err
	}
	if h.works != nil {
		if err := h.define(h.loaded, next); err != nil {
			return d, err
		}
		if d.Change, err = h.works.Change(nodes, h.same(next)); err != nil {
			return d, errors.Join(err, h.changeBack(next))
		}
	}
	if err := h.take(next); err != nil {
		return d, err
	}
	h.loaded = next
	h.secrets.Store(next)
	return d, nil
}

// masker takes the secrets of the configuration that was read last out of texts.
func (h *house) masker() mask.Masker { return h.secrets.Load().Masker() }

// define makes the queues, topics and functions that a configuration has and the one before has not, and alters those
// that the one before has otherwise. Who changes the file means it, so nobody needs --adopt.
func (h *house) define(before, next *config.File) error {
	ctx, cancel := context.WithTimeout(context.Background(), defineTime)
	defer cancel()
	added, altered := before.Redefined(next)
	for _, f := range []struct {
		*config.File
		adopt bool
	}{{added, false}, {altered, true}} {
		if err := f.Define(ctx, h.store.Configured(), f.adopt); err != nil {
			return mistakesIn(next, err)
		}
		if err := f.DefineFunctions(ctx, h.functions, f.adopt); err != nil {
			return mistakesIn(next, err)
		}
	}
	return nil
}

// defineTime bounds how long definitions may take when the configuration is read again.
const defineTime = time.Minute

// changeBack brings back what was before a configuration whose pipelines did not start: the definitions that it has
// otherwise, with which the next start would stop, and the pipelines. What it has made new stays.
func (h *house) changeBack(from *config.File) error {
	undefined := h.define(from, h.loaded)
	built, err := h.loaded.Build(h.store, h.env)
	if err == nil {
		_, err = h.works.Change(built.Nodes, h.same(h.loaded))
	}
	if undefined != nil {
		return errors.Join(undefined, err)
	}
	if err != nil {
		return fmt.Errorf("what was stopped for it does not start again, and stays as it is until the configuration is "+
			"read again: %w", err)
	}
	return nil
}

// few are some of many names.
func few(names []string) []string {
	if more := len(names) - namesShown; more > 0 {
		return append(slices.Clone(names[:namesShown]), fmt.Sprintf("and %d more", more))
	}
	return names
}

// sortOut tells which of some parts have changed settings in them, and which of the settings are in none.
func sortOut(changed, of []string) (parts, others []string) {
	for _, name := range changed {
		i := slices.IndexFunc(of, func(part string) bool {
			return name == part || strings.HasPrefix(name, part+".")
		})
		switch {
		case i < 0:
			others = append(others, name)
		case !slices.Contains(parts, of[i]):
			parts = append(parts, of[i])
		}
	}
	return parts, others
}

// take makes the running settings those of a configuration, as far as they can be changed: all of them, or after an
// error none.
func (h *house) take(next *config.File) error {
	if h.users.Any() || len(next.Users) > 0 {
		if err := h.users.Replace(next.Users); err != nil {
			return err
		}
	}
	h.file.Outbound.Adopt(next.Outbound)
	h.level.Set(levelOf(next.Log))
	for _, j := range h.opened() {
		if j, ok := j.(interface{ SetScrub(file.Scrub) }); ok {
			j.SetScrub(scrubOf(next.Journal))
		}
	}
	return nil
}

// scrubOf is how the journal looks for damage.
func scrubOf(j config.Journal) file.Scrub {
	return file.Scrub{Every: j.Scrub.Every, BytesPerSecond: j.Scrub.BytesPerSecond}
}

// levelOf is the least level that is logged.
func levelOf(l config.Log) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return slog.LevelInfo
	}
	return level
}
