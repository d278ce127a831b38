package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/backup"
	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// keepGenerations is how many backups a folder has unless it is said.
const keepGenerations = 7

func newBackup() *cobra.Command {
	var configFile, dataDir string
	var keep int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backup FOLDER [-c FILE | --data-dir DIR]",
		Short: "Copy the data of a server, which may run, into a folder of backups",
		Long: `Makes a backup of a data_dir in FOLDER: of the configuration FILE, or DIR, or without both of ./hikyaku-data (or
HIKYAKU_DATA). The server may run, and is not asked: the command reads its files, on the same machine and as an account
that may, and takes what a kill of the server at one moment would have left. What was acknowledged before the command
began is in it whole; what comes meanwhile may be. With shards it is one moment for all of them.

Each backup is a generation. A file that an earlier generation has is not copied again, so the second backup into the
same FOLDER copies little: what was put since, and the newest segment of the log. Every file is synced, read back and
compared, and the list of the generation is written last: a backup that is killed leaves those before it as they were.
--keep generations stay, and files that none of them names are removed. FOLDER is for one store.

In a backup are the journals, and the code of functions. The configuration, with users and secrets, is not, nor is
serve.log. Keep FOLDER as secret as data_dir: messages are readable there. A node of a cluster has no backup: the other
nodes have what it has.`,
		Example: `  hikyaku backup /mnt/backups -c /etc/hikyaku.yaml
  hikyaku backup check /mnt/backups
  hikyaku restore /mnt/backups ./restored`,
		Args: oneArg("the FOLDER for backups"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if keep < 1 {
				return &usageError{fmt.Errorf("--keep is %d: the new generation stays", keep), seeHelp(cmd)}
			}
			d, err := backupData(configFile, dataDir)
			if err != nil {
				return err
			}
			r, err := takeBackup(cmd.Context(), args[0], d, keep)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), backupJSON(r))
			}
			return printBackup(cmd.OutOrStdout(), args[0], d.Dir, r)
		},
	}
	cmd.Flags().StringVarP(&configFile, "config", "c", "", "configuration `FILE` (.yaml, .toml or .json)")
	cmd.Flags().StringVar(&dataDir, "data-dir", "", "the data_dir, `DIR`, in place of a configuration")
	cmd.Flags().IntVar(&keep, "keep", keepGenerations, "`N`, how many generations stay, the new one among them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("config", "data-dir")
	cmd.AddCommand(newBackupCheck(), newBackupPrune())
	return cmd
}

// backupData finds what there is to back up.
func backupData(configFile, dataDir string) (d backup.Data, err error) {
	d = backup.Data{Dir: dataDir, Suffix: ".zip"}
	var shards int // 0: nobody says
	if dataDir == "" {
		f, err := serveConfig(configFile)
		if err != nil {
			return d, err
		}
		d.Dir, shards = f.DataDir, f.Shards
		if n := len(shardDirs(d.Dir)); n != shards && exists(journalDir(d.Dir)) {
			return d, wrongShards(f, n)
		}
	}
	if err := checkUnfinished(d.Dir); err != nil {
		return d, err
	}
	if !exists(journalDir(d.Dir)) {
		if nodeLog(d.Dir) != "" {
			return d, &hinted{fmt.Errorf("%s is of a node of a cluster", d.Dir), "the other nodes have what it has; " +
				"`hikyaku journal copy` makes a journal of a server alone of the folders of most of them, when they " +
				"are stopped"}
		}
		return d, &hinted{fmt.Errorf("%s has no journal", d.Dir), "name the configuration of the server with -c, or " +
			"what it calls data_dir with --data-dir"}
	}
	for _, dir := range shardDirs(d.Dir) {
		d.Journals = append(d.Journals, filepath.Base(dir))
	}
	d.Once = []string{filepath.Join(filepath.Base(functionsDir(d.Dir)), "code")}
	return d, nil
}

func takeBackup(ctx context.Context, folder string, d backup.Data, keep int) (r *backup.Result, err error) {
	if err := notWithin(folder, d.Dir); err != nil {
		return nil, err
	}
	f, err := backup.Open(folder, true)
	if err != nil {
		return nil, hintOfBackup(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	show, clear := progressOf("back up")
	defer clear()
	r, err = f.Take(ctx, d, backup.Options{Keep: keep, Progress: show})
	return r, hintOfBackup(err)
}

// notWithin refuses backups in the folder that they are of: what takes that away takes them, too.
func notWithin(folder, data string) error {
	inner, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	outer, err := filepath.Abs(data)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(outer, inner); err != nil || rel == ".." ||
		strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil
	}
	return &hinted{fmt.Errorf("%s is in the data_dir %s", folder, data), "take a folder outside of it, best on " +
		"another disk: what takes data_dir away would take the backups, too"}
}

// hintOfBackup adds what to do.
func hintOfBackup(err error) error {
	var list *backup.ListError
	var problem *backup.ProblemError
	hint := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, backup.ErrNoBackup):
		hint = "FOLDER is one that `hikyaku backup FOLDER` has made"
	case errors.Is(err, backup.ErrForeign):
		hint = "take a folder that is missing or empty, or one that `hikyaku backup` has made"
	case errors.Is(err, backup.ErrOther):
		hint = "take a FOLDER for each store; a data_dir whose shards were changed is another one"
	case errors.Is(err, backup.ErrNoGeneration):
		hint = "`hikyaku backup check FOLDER` tells how many there are"
	case errors.Is(err, backup.ErrNotEmpty):
		hint = "restore into a folder that is missing or empty, and let data_dir be that one, or move it there"
	case errors.As(err, &list), errors.As(err, &problem):
		hint = "look at all of it with `hikyaku backup check`, and take another generation with --generation"
	case durable.Full(err):
		hint = "the generations before it are as they were, and nothing of this one is left; make room on that disk: " +
			"`hikyaku backup prune FOLDER --keep N` removes the oldest ones"
	case errors.Is(err, journal.ErrLocked):
		hint = "another hikyaku is at work there: wait until it has ended"
	}
	if hint == "" {
		return err
	}
	return &hinted{err, hint}
}

// backupResult is a backup as JSON.
type backupResult struct {
	Generation  int    `json:"generation"`
	Made        string `json:"made"`
	DataDir     string `json:"data_dir"`
	Files       int    `json:"files"`
	Bytes       int64  `json:"bytes"`
	CopiedFiles int    `json:"copied_files"`
	CopiedBytes int64  `json:"copied_bytes"`
	Looks       int    `json:"looks"`
	Removed     []int  `json:"removed_generations,omitempty"`
	Unswept     string `json:"unswept,omitempty"`
}

func backupJSON(r *backup.Result) backupResult {
	g := r.Generation
	out := backupResult{Generation: g.Number, Made: g.Made.Format(timeOfBackup), DataDir: g.From, Files: len(g.Files),
		Bytes: g.Bytes(), CopiedFiles: r.Copied, CopiedBytes: r.Bytes, Looks: r.Looks, Removed: r.Removed}
	if r.Unswept != nil {
		out.Unswept = r.Unswept.Error()
	}
	return out
}

const timeOfBackup = "2006-01-02T15:04:05.000Z07:00"

func printBackup(out io.Writer, folder, data string, r *backup.Result) error {
	g := r.Generation
	t := measure.NewTable(measure.Column{Name: "backup"}, measure.Column{Name: filepath.Clean(folder)})
	t.Row("generation", measure.Count(int64(g.Number)))
	t.Row("of", filepath.Clean(data))
	t.Row("everything acknowledged before", g.Made.Format(timeOfBackup))
	t.Row("files", fmt.Sprintf("%s, %s", measure.Count(int64(len(g.Files))), measure.Bytes(g.Bytes())))
	t.Row("copied of them", fmt.Sprintf("%s, %s", measure.Count(int64(r.Copied)), measure.Bytes(r.Bytes)))
	if n := len(r.Removed); n > 0 {
		t.Row("generations removed", measure.Count(int64(n)))
	}
	if err := t.WriteText(out); err != nil {
		return err
	}
	return printUnswept(out, &r.Pruned)
}

func newBackupPrune() *cobra.Command {
	var keep int
	cmd := &cobra.Command{
		Use:   "prune FOLDER --keep N",
		Short: "Remove the oldest generations, and what no generation has any more",
		Long: `Removes all generations in FOLDER but the newest N, and the files that no generation names. A backup does the same
when it is complete: this is for a disk that has no room for the next one.`,
		Example: "  hikyaku backup prune /mnt/backups --keep 3",
		Args:    oneArg("the FOLDER of backups"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if keep < 1 {
				return &usageError{fmt.Errorf("--keep is %d: say how many generations stay, one at least", keep),
					seeHelp(cmd)}
			}
			f, err := backup.Open(args[0], false)
			if err != nil {
				return hintOfBackup(err)
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			p, err := f.Prune(keep)
			if err != nil {
				return hintOfBackup(err)
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s removed\n", count(int64(len(p.Removed)), "generation"))
			return printUnswept(out, &p)
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 0, "`N`, how many generations stay")
	return cmd
}

// printUnswept says why files are still there that nothing needs.
func printUnswept(out io.Writer, p *backup.Pruned) (err error) {
	if p.Unswept != nil {
		_, err = fmt.Fprintf(out, "Files that no generation names are still there: %v.\n", p.Unswept)
	}
	return err
}

func newBackupCheck() *cobra.Command {
	var generation int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FOLDER",
		Short: "Read all backups in a folder and report what is damaged; changes nothing",
		Long: `Reads every file of all generations in FOLDER and compares it with its checksum, and then reads the journals of one
generation, the newest unless --generation says another, as ` + "`hikyaku journal check`" + ` does. It changes nothing.
Exit status 1 when there is damage.`,
		Example: "  hikyaku backup check /mnt/backups",
		Args:    oneArg("the FOLDER of backups"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkBackup(cmd.Context(), args[0], generation, asJSON, cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVar(&generation, "generation", 0, "`N`, whose journals are read (default the newest)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func checkBackup(ctx context.Context, folder string, number int, asJSON bool, out io.Writer) (err error) {
	f, err := backup.Open(folder, false)
	if err != nil {
		return hintOfBackup(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	show, clear := progressOf("check")
	c, err := f.Check(ctx, number, show)
	clear()
	if err != nil {
		return hintOfBackup(err)
	}
	if asJSON {
		err = printJSON(out, checkedJSON(c))
	} else {
		err = printChecked(out, folder, c)
	}
	if n := c.Damaged(); err == nil && n > 0 {
		err = &hinted{fmt.Errorf("backup %s: %s", folder, count(int64(n), "damaged place")),
			"a new `hikyaku backup` copies again what is missing or has another length, but does not look into files " +
				"that it has; where the data is still there, begin a new FOLDER"}
	}
	return err
}

// checkedResult is a check as JSON.
type checkedResult struct {
	Generations int      `json:"generations"`
	Files       int      `json:"files"`
	Bytes       int64    `json:"bytes"`
	Groups      uint64   `json:"groups"`
	Records     uint64   `json:"records"`
	Damaged     []string `json:"damaged"`
}

func checkedJSON(c *backup.Checked) checkedResult {
	r := checkedResult{Generations: c.Generations, Files: c.Files, Bytes: c.Bytes, Damaged: []string{}}
	for _, p := range c.Problems {
		r.Damaged = append(r.Damaged, p.String())
	}
	for _, j := range c.Journals {
		r.Groups, r.Records = r.Groups+j.Groups, r.Records+j.Records
		for _, d := range j.Damages {
			r.Damaged = append(r.Damaged, d.String())
		}
	}
	return r
}

func printChecked(out io.Writer, folder string, c *backup.Checked) error {
	t := measure.NewTable(measure.Column{Name: "backup"}, measure.Column{Name: filepath.Clean(folder)})
	t.Row("generations", measure.Count(int64(c.Generations)))
	t.Row("files", fmt.Sprintf("%s, %s", measure.Count(int64(c.Files)), measure.Bytes(c.Bytes)))
	t.Row("damaged files", measure.Count(int64(len(c.Problems))))
	if err := t.WriteText(out); err != nil {
		return err
	}
	for _, p := range c.Problems {
		fmt.Fprintln(out, p)
	}
	for _, r := range c.Journals {
		fmt.Fprintln(out)
		printReport(out, r)
	}
	return nil
}

// openCopies opens the journals of a folder without changing anything.
func openCopies(ctx context.Context, dirs []string) (js []journal.Journal, err error) {
	for _, dir := range dirs {
		j, err := file.Open(ctx, file.Options{Dir: dir, ReadOnly: true})
		if err != nil {
			return js, err
		}
		js = append(js, j)
	}
	return js, nil
}
