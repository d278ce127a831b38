package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/picture"
)

// graphFormats are the ways to write a picture of a configuration.
var graphFormats = map[string]func(p *picture.Picture, w io.Writer, title string) error{
	"dot": (*picture.Picture).Dot, "mermaid": (*picture.Picture).Mermaid, "svg": (*picture.Picture).SVG,
	"text": (*picture.Picture).Text,
}

func newGraph() *cobra.Command {
	var path, format string
	formats := strings.Join(slices.Sorted(maps.Keys(graphFormats)), ", ")
	cmd := &cobra.Command{
		Use:   "graph [-c FILE]",
		Short: "Draw what a configuration joins to what",
		Long: `Draws the doors, topics and queues of a configuration, its sources, transforms and sinks, and where messages go from
one to the other, with conditions and ports. Ways of dead letters are dashed. Nothing is started or asked.

  text     a list, for a terminal
  svg      a picture that every browser shows; it needs no other program
  mermaid  for a page of Markdown that draws it, as GitHub's do
  dot      for Graphviz: hikyaku graph --format dot -c FILE | dot -Tpng > graph.png`,
		Example: `  hikyaku graph -c examples/dpkg.yaml
  hikyaku graph -c examples/dpkg.yaml --format svg > dpkg.svg`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, ok := graphFormats[format]
			if !ok {
				return &usageError{fmt.Errorf("there is no format %q", format), "formats: " + formats}
			}
			f, err := serveConfig(path)
			if err != nil {
				return err
			}
			p := f.Picture(openDoorsOf(f))
			if len(p.Things) == 0 {
				return &hinted{errors.New("the configuration has no queue, topic, source or sink"),
					"name one with -c FILE, as hikyaku graph -c examples/dpkg.yaml"}
			}
			return write(p, cmd.OutOrStdout(), filepath.Base(f.Name))
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", "", "configuration `FILE` (.yaml, .toml or .json)")
	cmd.Flags().StringVar(&format, "format", "text", "one of "+formats)
	return cmd
}

// openDoorsOf are the names of the doors that are open.
func openDoorsOf(f *config.File) string {
	var names []string
	for _, d := range doorsOf(&f.API) {
		if !d.off {
			names = append(names, d.name)
		}
	}
	return strings.Join(names, ", ")
}
