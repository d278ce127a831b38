package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/doctor"
)

// doctorTime is how long the doctor looks.
const doctorTime = 9 * time.Second

func newDoctor() *cobra.Command {
	var path string
	asJSON := false
	cmd := &cobra.Command{
		Use:   "doctor [-c FILE]",
		Short: "Look at this machine for what would lose messages, stop hikyaku or let others in",
		Long: `Looks at what a configuration wants and what this machine gives, before hikyaku starts or while it runs:

  disk      whether syncs mean something where data_dir lies, and how long they take
  room      bytes and inodes that are free
  files     whose data_dir is, and who may read it, keys and secrets
  ports     which are free, and who has the others
  limits    files, memory, threads and waiting connections
  clock     whether something keeps it right, and whether it went back
  open      who may come in at each door, and what one may do there whom nobody knows
  versions  whether this hikyaku reads data_dir, and whether it is the one that runs

Each finding is ok, warn (it works, and may not always) or bad (it does not work, or loses what it should keep), with
what it means and what to do. It changes nothing, shows no secret, and ends within 10 seconds. Run it as the account
that hikyaku runs as: what another one may not see it cannot judge.

Exit status: 0, nothing is bad; 1, something is, or the configuration has mistakes; 2, the command line was wrong.`,
		Example: `  hikyaku doctor
  sudo -u hikyaku hikyaku doctor -c /etc/hikyaku/hikyaku.yaml
  hikyaku doctor -c hikyaku.yaml --json | jq '.findings[] | select(.level != "ok")'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := serveConfig(path)
			if err != nil {
				return err
			}
			found := examine(cmd.Context(), f)
			if asJSON {
				err = writeFindings(cmd.OutOrStdout(), f, found)
			} else {
				err = printFindings(cmd.OutOrStdout(), found)
			}
			if n := countOf(found, doctor.Bad); err == nil && n > 0 {
				err = errors.New(count(n, "finding") + " of the doctor's: bad")
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", "", "configuration `FILE` (.yaml, .toml or .json)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// examination looks at one area.
type examination struct {
	area string
	look func(context.Context) []doctor.Finding
}

// examine looks at everything. A disk or a server that answers nothing takes no more time than there is: what waits for
// it then ends with the process.
func examine(ctx context.Context, f *config.File) (found []doctor.Finding) {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	begun := time.Now()
	p := &patient{file: f}
	all := []examination{
		{"versions", p.versions}, // which finds the running server
		{"disk", p.disk},
		{"room", p.room},
		{"files", p.files},
		{"ports", p.ports},
		{"limits", p.limits},
		{"open", p.open},
		{"clock", func(context.Context) []doctor.Finding { return p.clock(begun) }}, // last: it was set meanwhile?
	}
	for _, e := range all {
		seen := make(chan []doctor.Finding, 1)
		go func() { seen <- e.look(ctx) }()
		select {
		case fs := <-seen:
			found = append(found, fs...)
		case <-ctx.Done():
			return append(found, doctor.Finding{Area: e.area, Level: doctor.Bad, What: "no answer within " +
				doctorTime.String(), Means: "something that hikyaku needs hangs", Do: "look at the disk of " +
				"data_dir, and at " +
				"the kernel's log"})
		}
	}
	return found
}

// countOf is how many findings are of a level.
func countOf(found []doctor.Finding, level doctor.Level) (n int64) {
	for _, f := range found {
		if f.Level == level {
			n++
		}
	}
	return n
}

// areas are the order in which findings are shown.
var areas = []string{"disk", "room", "files", "ports", "limits", "clock", "open", "versions"}

func sortFindings(found []doctor.Finding) []doctor.Finding {
	slices.SortStableFunc(found, func(a, b doctor.Finding) int {
		return slices.Index(areas, a.Area) - slices.Index(areas, b.Area)
	})
	return found
}

func printFindings(w io.Writer, found []doctor.Finding) error {
	area := ""
	for _, f := range sortFindings(found) {
		if f.Area != area {
			area = f.Area
			fmt.Fprintln(w, area)
		}
		fmt.Fprintf(w, "  %-4s  %s\n", f.Level, f.What)
		if f.Means != "" {
			fmt.Fprintf(w, "          means: %s\n", f.Means)
		}
		if f.Do != "" {
			fmt.Fprintf(w, "          do:    %s\n", f.Do)
		}
	}
	_, err := fmt.Fprintf(w, "\n%d ok, %d warn, %d bad\n", countOf(found, doctor.OK), countOf(found, doctor.Warn),
		countOf(found, doctor.Bad))
	return err
}

func writeFindings(w io.Writer, f *config.File, found []doctor.Finding) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Level    doctor.Level     `json:"level"` // the worst
		Config   string           `json:"config"`
		DataDir  string           `json:"data_dir"`
		Account  int              `json:"account"` // uid of who looked; -1 on Windows
		Version  string           `json:"version"`
		Findings []doctor.Finding `json:"findings"`
	}{doctor.Worst(found), f.Name, f.DataDir, os.Geteuid(), version(), sortFindings(found)})
}
