package picture

import (
	"fmt"
	"io"
	"strings"
)

// Text lists each thing with the ways from it, for a terminal.
func (p *Picture) Text(w io.Writer, _ string) (err error) {
	from := map[int][]Way{}
	for _, way := range p.Ways {
		from[way.From] = append(from[way.From], way)
	}
	name := func(i int) string {
		t := &p.Things[i]
		s := t.Kind + " " + Shown(t.Name)
		if t.Note != "" {
			s += " (" + Shown(t.Note) + ")"
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
				label = "  [" + Shown(way.Label) + "]"
			}
			fmt.Fprintf(w, "  %-4s %s %s%s\n", arrow, p.Things[way.To].Kind, Shown(p.Things[way.To].Name), label)
		}
	}
	return nil
}

// dotShapes and mermaidShapes are what kinds of things look like.
var dotShapes = map[string]string{"door": "hexagon", "topic": "septagon", "queue": "cylinder", "source": "cds",
	"transform": "box", "sink": "folder"}

var mermaidShapes = map[string][2]string{"door": {"{{", "}}"}, "topic": {"([", "])"}, "queue": {"[(", ")]"},
	"source": {">", "]"}, "transform": {"[", "]"}, "sink": {"[[", "]]"}}

// Dot writes it for Graphviz.
func (p *Picture) Dot(w io.Writer, title string) error {
	quoted := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Shown(text)) + `"`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", "+
		"fontsize=10];\n", quoted(title))
	for i := range p.Things {
		t := &p.Things[i]
		ls := t.lines()
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

// Mermaid writes it for a page of Markdown.
func (p *Picture) Mermaid(w io.Writer, title string) error {
	escape := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;",
		`\`, "#92;")
	var b strings.Builder
	fmt.Fprintf(&b, "%%%% %s\nflowchart LR\n", Shown(title))
	for i := range p.Things {
		t := &p.Things[i]
		ls, shape := t.lines(), mermaidShapes[t.Kind]
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
