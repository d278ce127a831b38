package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/shard"
)

// stores are the journals of a data_dir and what is over them: one store, or a router over one of each.
type stores struct {
	journals []journal.Journal // by shard
	// shards knows of several what the router says of them; nil: there is one.
	shards *shardsAway
	store  courierStore
	failed <-chan struct{} // closed when a journal has failed that does not come back by itself
}

// courierStore is what the house has of its store, or of its stores.
type courierStore interface {
	queue.Service
	JournalStats() journal.Stats
	Checkpoint(context.Context) error
	Close() error
}

// journalDir is where the journal is, or that of shard 0 of several.
func journalDir(dataDir string) string { return shardDir(dataDir, 0) }

// shardDir is where the journal of a shard is.
func shardDir(dataDir string, shard int) string {
	if shard == 0 {
		return filepath.Join(dataDir, "journal")
	}
	return filepath.Join(dataDir, "journal-"+strconv.Itoa(shard))
}

// shardDirs are the folders of the journals that a data_dir has.
func shardDirs(dataDir string) (dirs []string) {
	for i := 0; i == 0 || exists(shardDir(dataDir, i)); i++ {
		dirs = append(dirs, shardDir(dataDir, i))
	}
	return dirs
}

// collectors are what metrics say of the relay, where there is one.
func (s *stores) collectors() []prometheus.Collector {
	if r, several := s.store.(*shard.Router); several {
		return []prometheus.Collector{relayCollector{r}}
	}
	return nil
}

// openStores opens the journals of a configuration and what is over them. Of o it sets what depends on the journals. If
// over has some, those are the journals, one a shard, and they are closed with the rest, also after an error.
func openStores(ctx context.Context, f *config.File, log *slog.Logger, over []journal.Journal, o queue.Options) (
	s stores, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if over != nil {
		s.journals = over
	} else if err := s.openFiles(ctx, f, log); err != nil {
		return s, err
	}
	o.OnDemand, o.Namespaces = true, f.Namespaces
	// Nothing is reclaimed before two checkpoints lie behind it: where segments are small, so is the room.
	o.CheckpointBytes = 64 << 20
	if j, ok := s.journals[0].(interface{ SegmentBytes() int64 }); ok {
		o.CheckpointBytes = min(o.CheckpointBytes, uint64(j.SegmentBytes()))
	}
	o.Noticed = func(n queue.ClockNotice) { log.Warn("clock", "notice", n.String(), "by", n.By) }
	s.watch()
	if f.Shards == 1 {
		return s, s.openOne(ctx, o)
	}
	return s, s.openAll(ctx, f, log, o)
}

// journalFS is what the files of a journal in a folder are read and written by; nil: the operating system. Tests have a
// disk that fails.
var journalFS = func(dir string) file.FS { return nil }

// fileOptions are those of a journal in files, but for its folder.
func fileOptions(f *config.File, log *slog.Logger) file.Options {
	return file.Options{
		Durability:   journal.Durability(f.Durability),
		SegmentBytes: f.Journal.SegmentBytes,
		Scrub:        scrubOf(f.Journal),
		TableBytes:   tableBytes(machine.Memory().Bytes, f.Shards),
		Report:       func(err error) { sayOfJournal(log, err) },
	}
}

// openFiles opens the journals in the folder of a configuration.
func (s *stores) openFiles(ctx context.Context, f *config.File, log *slog.Logger) error {
	if f.Cluster.On() {
		return &hinted{errors.New("this configuration is of a node of a cluster, whose journal is not its own"),
			"hikyaku serve runs the node; or leave cluster: out, with another data_dir"}
	}
	if err := checkUnfinished(f.DataDir); err != nil {
		return err
	}
	// That of shard 0 is made last: where it is, so were all the others.
	if n := len(shardDirs(f.DataDir)); n > f.Shards || n < f.Shards && exists(journalDir(f.DataDir)) {
		return wrongShards(f, n)
	}
	if err := s.openShards(ctx, f, log); err != nil {
		return fmt.Errorf("open data_dir %s: %w", f.DataDir, err)
	}
	return checkUnfinished(f.DataDir) // who changes them had the locks until then
}

// openShards opens the journals of all shards. Where some are in use, no other is made: its folder is missing, or empty
// as that of a disk that is not mounted.
func (s *stores) openShards(ctx context.Context, f *config.File, log *slog.Logger) error {
	found := make([]journal.Journal, f.Shards) // nil: there is none yet
	open := func(i int, existing bool) (used bool, err error) {
		o := fileOptions(f, log)
		o.Dir, o.Existing = shardDir(f.DataDir, i), existing
		o.FS = journalFS(o.Dir)
		j, err := file.Open(ctx, o)
		if err != nil {
			return false, err
		}
		found[i] = j
		s.journals = append(s.journals, j) // so that they are closed after an error
		return j.End() > 0, nil
	}
	inUse := -1
	for i := f.Shards - 1; i >= 0; i-- {
		switch used, err := open(i, f.Shards > 1); {
		case errors.Is(err, file.ErrNoJournal):
		case err != nil:
			return err
		case used:
			inUse = i
		}
	}
	for i := f.Shards - 1; i >= 0; i-- {
		if found[i] != nil {
			continue
		}
		if inUse >= 0 {
			return &hinted{fmt.Errorf("shard %d of %d has no journal, and shard %d is in use", i, f.Shards, inUse),
				shardDir(f.DataDir, i) + " is missing or empty: is its disk mounted?"}
		}
		if _, err := open(i, false); err != nil {
			return err
		}
	}
	s.journals = found
	return nil
}

func (s *stores) openOne(ctx context.Context, o queue.Options) error {
	o.Journal = s.journals[0]
	one, err := queue.Open(ctx, o)
	if err != nil {
		return err
	}
	s.store = one
	return shard.Alone(ctx, one)
}

func (s *stores) openAll(ctx context.Context, f *config.File, log *slog.Logger, o queue.Options) error {
	r, err := shard.Open(ctx, shard.Options{Journals: slices.Clone(s.journals), Store: o,
		Report: func(err error) { log.Warn("relay", "error", err) }, Reopen: s.shards.reopen, Lost: s.shards.lose,
		Told: func(i int, why error) { sayOfShard(log, f.Durability, i, why) }})
	var other *shard.CountError
	if errors.As(err, &other) {
		return wrongShards(f, other.Made)
	}
	if err != nil {
		return err
	}
	s.store = r
	return nil
}

// wrongShards says that a data_dir was made for another number of shards.
func wrongShards(f *config.File, made int) error {
	hint := fmt.Sprintf("set shards: %d, or take another data_dir", made)
	if made == 1 || f.Shards == 1 {
		hint += ", or change it: " + changeCommand(f.DataDir, f.Shards)
	}
	if made < f.Shards {
		hint += fmt.Sprintf("; if it had more, %s is missing: is its disk mounted?", shardDir(f.DataDir, made))
	}
	return &hinted{fmt.Errorf("data_dir %s has %s, the configuration says shards: %d", f.DataDir,
		count(int64(made), "shard"), f.Shards), hint}
}

// watch notices when one of the journals fails for good. Of several the router watches each.
func (s *stores) watch() {
	if len(s.journals) == 1 {
		s.failed = s.journals[0].Failed()
		return
	}
	s.shards = &shardsAway{journals: s.journals, again: make([]reopening, len(s.journals)), failed: make(chan struct{})}
	s.failed = s.shards.failed
}

// health is why a journal has failed.
func (s *stores) health() error {
	if s.shards != nil {
		return s.shards.why()
	}
	select {
	case <-s.journals[0].Failed():
		return s.journals[0].Health()
	default:
		return nil
	}
}

// close closes the stores and the journals. A second call does nothing.
func (s *stores) close() (err error) {
	if s.store != nil {
		err = s.store.Close()
	}
	return errors.Join(err, closeJournals(s.opened()))
}
