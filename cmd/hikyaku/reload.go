package main

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// reloadable are the parts of a configuration that are taken while hikyaku runs.
var reloadable = []string{"users", "outbound", "log.level", "journal.scrub", "cluster.peers"}

// namesShown is how many settings the log names at most.
const namesShown = 20

// reload reads the configuration again and takes of it what can be taken while running. What cannot be read or is wrong
// changes nothing. It never ends anything.
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

// reread takes from a configuration what can be taken while the house is open.
func (h *house) reread(next *config.File) {
	if err := h.take(next); err != nil {
		h.log.Error("SIGHUP: the configuration is not taken, and all settings stay as they were", "error", err)
		return
	}
	took, _ := sortOut(h.loaded.Changed(next))
	_, later := sortOut(h.file.Changed(next))
	h.loaded = next
	h.log.Info("SIGHUP: the configuration was read again", "changed", took, "files_of_secrets", "read", "certificates",
		"follow their files", "needs_restart", later)
}

// sortOut tells which parts of those that are reloadable have changed settings in them, and which of the settings are
// in none.
func sortOut(changed []string) (parts, others []string) {
	for _, name := range changed {
		i := slices.IndexFunc(reloadable, func(part string) bool {
			return name == part || strings.HasPrefix(name, part+".")
		})
		switch {
		case i < 0:
			others = append(others, name)
		case !slices.Contains(parts, reloadable[i]):
			parts = append(parts, reloadable[i])
		}
	}
	if more := len(others) - namesShown; more > 0 {
		others = append(others[:namesShown], fmt.Sprintf("and %d more", more))
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
