package picture

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// svgStyle shows the picture on light and dark paper.
const svgStyle = `text{font:13px -apple-system,"Segoe UI","Noto Sans","Noto Sans CJK JP","Hiragino Sans","Yu Gothic",sans-serif;` +
	`fill:#1f2933}.note{font-size:11px;fill:#66717e}.box{fill:#fff;stroke:#9aa5b1}.door{fill:#eef2f6}` +
	`.queue,.topic{fill:#fdf3ee;stroke:#b4472b}.way{fill:none;stroke:#52606d;stroke-width:1.4}.dead{stroke-dasharray:5 4}` +
	`.label{font-size:10.5px;fill:#52606d;paint-order:stroke;stroke:#fbfaf8;stroke-width:3}.paper{fill:#fbfaf8}` +
	`.tip{fill:#52606d}@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.note{fill:#9aa5b1}.paper{fill:#151b21}` +
	`.box{fill:#1f2933;stroke:#616e7c}.door{fill:#26313c}.queue,.topic{fill:#33231d;stroke:#f0916f}.way{stroke:#9aa5b1}` +
	`.label{fill:#9aa5b1;stroke:#151b21}.tip{fill:#9aa5b1}}`

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(Shown(text))) // a Builder takes all
	return b.String()
}

// SVG writes a picture that every browser shows.
func (p *Picture) SVG(w io.Writer, title string) error {
	d := p.LayOut(0)
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`+
			"\n<title>%s</title>\n<style>%s</style>\n", d.Width, d.Height, d.Width, d.Height, escaped(title), svgStyle)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" ` +
		`orient="auto-start-reverse"><path class="tip" d="M0 0L10 5L0 10z"/></marker></defs>` + "\n" +
		`<rect class="paper" width="100%" height="100%" rx="8"/>` + "\n")
	for i, c := range d.Curves {
		p.curve(&b, i, &c)
	}
	for i, box := range d.Boxes {
		t := &p.Things[i]
		fmt.Fprintf(&b,
			`<g><title>%s %s</title><rect class="box %s" x="%.1f" y="%.1f" width="%.1f" height="%.0f" rx="%d"/>`,
			t.Kind, escaped(t.Name), t.Kind, box.X, box.Y, box.Width, box.Height, box.Radius)
		for _, line := range box.Lines {
			fmt.Fprintf(&b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, line.Class, box.Middle,
				line.Y, escaped(line.Text))
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// curve draws a way with its tip and its label.
func (p *Picture) curve(b *strings.Builder, i int, c *Curve) {
	class, tip := "way", "marker-end"
	if p.Ways[i].Dead {
		class += " dead"
	}
	if c.Back {
		tip = "marker-start"
	}
	fmt.Fprintf(b, `<path class="%s" %s="url(#tip)" d="%s"/>`, class, tip, c.Path)
	if c.Label != "" {
		fmt.Fprintf(b, `<text class="label" x="%.1f" y="%.1f" text-anchor="middle"><title>%s</title>%s</text>`, c.LabelX,
			c.LabelY, escaped(p.Ways[i].Label), escaped(c.Label))
	}
	b.WriteString("\n")
}
