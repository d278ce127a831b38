package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/backup"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/shard"
)

func newRestore() *cobra.Command {
	var generation int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore FOLDER DIR",
		Short: "Make a data_dir of a backup",
		Long: `Writes a generation of the backups in FOLDER, the newest unless --generation says another, into DIR, which is missing
or empty. Every file is read back and compared with its checksum, and then the journals are read as a start reads them,
with the bodies of all messages. Let data_dir be DIR, and start the server.

It is the past: what was settled since waits again, and what came since is missing. With shards the configuration says
as many as there were. When DIR is a data_dir with damage, try ` + "`hikyaku journal check`" + ` and ` + "`repair`" + ` first, which
lose less.

The command may be ended at any moment: until all is there no journal is in DIR, and the next restore begins anew.`,
		Example: `  hikyaku restore /mnt/backups ./restored
  hikyaku serve -c hikyaku.yaml   # with data_dir: ./restored`,
		Args: namedArgs("the FOLDER of backups", "the DIR for the data"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := restore(cmd.Context(), args[0], args[1], generation)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return r.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVar(&generation, "generation", 0, "`N`, which generation (default the newest)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// restored is what a restore has made.
type restored struct {
	Dir        string `json:"dir"`
	Generation int    `json:"generation"`
	Made       string `json:"made"`
	From       string `json:"data_dir"`
	Files      int    `json:"files"`
	Bytes      int64  `json:"bytes"`
	Shards     int    `json:"shards"`
	Queues     int    `json:"queues"`
	Topics     int    `json:"topics"`
	Messages   int    `json:"messages"`
	Claimed    int    `json:"claimed"`
	Past       int    `json:"past"`
	Snapshots  int    `json:"snapshots"`
}

func restore(ctx context.Context, folder, dir string, number int) (r *restored, err error) {
	f, err := backup.Open(folder, false)
	if err != nil {
		return nil, hintOfBackup(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	show, clear := progressOf("restore")
	g, err := f.Restore(ctx, dir, number, show)
	clear()
	if err != nil {
		return nil, hintOfBackup(err)
	}
	var dirs []string
	for _, j := range g.Journals {
		dirs = append(dirs, filepath.Join(dir, filepath.FromSlash(j.Dir)))
	}
	v, err := readCopies(ctx, dirs)
	if err != nil {
		return nil, fmt.Errorf("generation %d is in %s, but does not read as a store: %w", g.Number, dir, err)
	}
	r = &restored{Dir: dir, Generation: g.Number, Made: g.Made.Format(timeOfBackup), From: g.From,
		Files: len(g.Files), Bytes: g.Bytes(), Shards: len(g.Journals), Queues: len(v.Queues), Topics: len(v.Topics)}
	for _, q := range v.Queues {
		r.Messages, r.Claimed = r.Messages+q.Messages, r.Claimed+q.Claimed
		r.Past, r.Snapshots = r.Past+q.Past, r.Snapshots+q.Snapshots
	}
	return r, nil
}

// readCopies reads all that journals tell, and changes nothing.
func readCopies(ctx context.Context, dirs []string) (v *queue.Inventory, err error) {
	js, err := openCopies(ctx, dirs)
	defer func() { err = errors.Join(err, closeJournals(js)) }()
	if err != nil {
		return nil, err
	}
	show, clear := progressOf("read")
	defer clear()
	return shard.Inventory(ctx, js, show)
}

func (r *restored) print(out io.Writer) error {
	t := measure.NewTable(measure.Column{Name: "restored"}, measure.Column{Name: filepath.Clean(r.Dir)})
	t.Row("generation", measure.Count(int64(r.Generation)))
	t.Row("of", r.From)
	t.Row("everything acknowledged before", r.Made)
	t.Row("files", fmt.Sprintf("%s, %s", measure.Count(int64(r.Files)), measure.Bytes(r.Bytes)))
	for _, row := range []struct {
		what string
		n    int
	}{
		{"shards", r.Shards}, {"queues", r.Queues}, {"topics", r.Topics}, {"messages", r.Messages},
		{"of them claimed", r.Claimed}, {"kept for a seek", r.Past}, {"snapshots", r.Snapshots},
	} {
		t.Row(row.what, measure.Count(int64(row.n)))
	}
	return t.WriteText(out)
}
