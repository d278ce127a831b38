package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// built tells which hikyaku this is.
type built struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
	Tags    string `json:"tags"`     // of the build, separated by commas
	LeftOut string `json:"left_out"` // what the tags leave out, separated by commas
	Changed bool   `json:"changed"`
}

func newVersion() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show which hikyaku this is and how it was built",
		Example: `  hikyaku version
  hikyaku version --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(b)
			}
			changed := ""
			if b.Changed {
				changed = ", with changes that are not committed"
			}
			out := ""
			if b.LeftOut != "" {
				out = "built without " + b.LeftOut + "\n"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "hikyaku %s%s\n%s, %s, tags %s\n%s", b.Version, changed, b.Go,
				b.System, b.Tags, out)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func thisBuild() built {
	b := built{Version: version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Tags: "none",
		LeftOut: strings.Join(slices.Concat(leftOut, clustersLeftOut), ",")}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "-tags":
				b.Tags = s.Value
			case "vcs.modified":
				b.Changed = s.Value == "true"
			}
		}
	}
	return b
}
