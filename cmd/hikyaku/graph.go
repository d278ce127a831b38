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
)

// graphFormats are the ways to write a picture of a configuration.
var graphFormats = map[string]func(w io.Writer, title string, p *config.Picture) error{
	"dot": writeDot, "mermaid": writeMermaid, "svg": writeSVG, "text": writeGraphText,
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
			return write(cmd.OutOrStdout(), filepath.Base(f.Name), &p)
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

const longestLabel = 40 // letters

// short is a label on one line, cut where it is long.
func short(text string) string {
	runes := []rune(config.Shown(text))
	if len(runes) > longestLabel {
		return string(runes[:longestLabel-1]) + "…"
	}
	return string(runes)
}

// writeGraphText lists each thing with the ways from it.
func writeGraphText(w io.Writer, _ string, p *config.Picture) (err error) {
	from := map[int][]config.Way{}
	for _, way := range p.Ways {
		from[way.From] = append(from[way.From], way)
	}
	name := func(i int) string {
		t := &p.Things[i]
		s := t.Kind + " " + config.Shown(t.Name)
		if t.Note != "" {
			s += " (" + config.Shown(t.Note) + ")"
		}
		return s
	}
	for i := range p.Things {
		if _, err = fmt.Fprintln(w, name(i)); err != nil {
			return err
		}
		for _, way := range from[i] {
			arrow := "-->"
			if way.Dead {
				arrow = "-.->"
			}
			label := ""
			if way.Label != "" {
				label = "  [" + config.Shown(way.Label) + "]"
			}
			fmt.Fprintf(w, "  %-4s %s %s%s\n", arrow, p.Things[way.To].Kind, config.Shown(p.Things[way.To].Name), label)
		}
	}
	return nil
}

// dotShapes and mermaidShapes are what kinds of things look like.
var dotShapes = map[string]string{"door": "hexagon", "topic": "septagon", "queue": "cylinder", "source": "cds",
	"transform": "box", "sink": "folder"}

var mermaidShapes = map[string][2]string{"door": {"{{", "}}"}, "topic": {"([", "])"}, "queue": {"[(", ")]"},
	"source": {">", "]"}, "transform": {"[", "]"}, "sink": {"[[", "]]"}}

// linesOf are a thing's lines of text.
func linesOf(t *config.Thing) []string {
	ls := []string{short(t.Name)}
	if t.Note != "" {
		ls = append(ls, short(t.Note))
	}
	return ls
}

func writeDot(w io.Writer, title string, p *config.Picture) error {
	quoted := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(config.Shown(text)) + `"`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", "+
		"fontsize=10];\n", quoted(title))
	for i := range p.Things {
		t := &p.Things[i]
		ls := linesOf(t)
		for j := range ls {
			ls[j] = strings.Trim(quoted(ls[j]), `"`)
		}
		fmt.Fprintf(&b, "  n%d [shape=%s, label=\"%s\"];\n", i, dotShapes[t.Kind], strings.Join(ls, `\n`))
	}
	for _, way := range p.Ways {
		style := ""
		if way.Dead {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  n%d -> n%d [label=%s%s];\n", way.From, way.To, quoted(short(way.Label)), style)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeMermaid(w io.Writer, title string, p *config.Picture) error {
	escape := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;",
		`\`, "#92;")
	var b strings.Builder
	fmt.Fprintf(&b, "%%%% %s\nflowchart LR\n", config.Shown(title))
	for i := range p.Things {
		t := &p.Things[i]
		ls, shape := linesOf(t), mermaidShapes[t.Kind]
		for j := range ls {
			ls[j] = escape.Replace(ls[j])
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, shape[0], strings.Join(ls, "<br/>"), shape[1])
	}
	for _, way := range p.Ways {
		arrow, label := "-->", ""
		if way.Dead {
			arrow = "-.->"
		}
		if way.Label != "" {
			label = `|"` + escape.Replace(short(way.Label)) + `"|`
		}
		fmt.Fprintf(&b, "  n%d %s%s n%d\n", way.From, arrow, label, way.To)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
