package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
)

// awkward is a configuration whose texts have all that other formats give a meaning.
const awkward = `
queues: { 飛脚: { dead_letter: 墓 } }
sources:
  in: { type: queue, queue: 飛脚, where: "a = '\"<b>&\\\\' and\n  c < 5 or d = '#` + "`" + `|]'" }
  more: { type: queue, queue: again }
transforms: { pass: { type: filter, inputs: [in, more], where: "x = '東京'" } }
sinks: { out: { type: queue, queue: again, inputs: [pass] }, far: { type: stdout, inputs: [in, pass] } }
`

func pictureOf(t *testing.T, text string) *config.Picture {
	t.Helper()
	f, err := config.Parse("x.yaml", []byte(text), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	p := f.Picture("http")
	return &p
}

func TestAPictureIsSoundXMLAndNoBoxLiesOnAnother(t *testing.T) {
	for name, text := range map[string]string{"awkward": awkward, "one": "queues: { a: {} }", "many": manyQueues(300)} {
		p := pictureOf(t, text)
		var b strings.Builder
		if err := writeSVG(&b, `a "<title>" & more`, p); err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, b.String())
			}
			if e, ok := token.(xml.StartElement); ok {
				seen[e.Name.Local]++
			}
		}
		if seen["rect"] != len(p.Things)+1 || seen["path"] != len(p.Ways)+1 {
			t.Errorf("%s: %v of %d things and %d ways", name, seen, len(p.Things), len(p.Ways))
		}
		d := layOut(p)
		boxes := d.spots[:len(p.Things)]
		for i, a := range boxes {
			if a.x < 0 || a.x+a.width > d.width || a.y-boxHeight/2 < 0 || a.y+boxHeight/2 > d.height {
				t.Errorf("%s: %s lies outside", name, p.Things[i].Name)
			}
			for _, c := range boxes[:i] {
				if a.x < c.x+c.width && c.x < a.x+a.width && a.y < c.y+boxHeight && c.y < a.y+boxHeight {
					t.Errorf("%s: %s lies on %s", name, p.Things[a.thing].Name, p.Things[c.thing].Name)
				}
			}
		}
		for i := range p.Ways {
			if left, right := d.ends(i); left != right && d.spots[left].column >= d.spots[right].column {
				t.Errorf("%s: way %d goes from column %d to %d", name, i, d.spots[left].column, d.spots[right].column)
			}
		}
	}
}

func TestALongJapaneseNameFitsItsBox(t *testing.T) {
	name := strings.Repeat("飛", 30)
	d := layOut(pictureOf(t, "queues: { "+name+": {} }"))
	for _, s := range d.spots {
		if d.Things[s.thing].Name == name && s.width < 60*letterWidth {
			t.Errorf("its box is %v wide", s.width)
		}
	}
}

func manyQueues(n int) string {
	var b strings.Builder
	b.WriteString("queues: {")
	for i := range n {
		fmt.Fprintf(&b, " q%d: { dead_letter: q%d },", i, (i*7+1)%n)
	}
	return b.String() + " }"
}

func TestGraphWritesEachFormat(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(name, []byte(awkward), 0o600); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"text": "queue 飛脚\n  -.-> queue 墓\n", "svg": "<svg ", "dot": `digraph "x.yaml" {`, "mermaid": "flowchart LR\n",
	} {
		if r := hikyaku(t, "", nil, "graph", "-c", name, "--format", format); r.code != 0 ||
			!strings.Contains(r.stdout, want) {
			t.Errorf("%s: %+v", format, r)
		}
	}
	if r := hikyaku(t, "", nil, "graph", "-c", name, "--format", "png"); r.code != exitUsage ||
		!strings.Contains(r.stderr, "dot, mermaid, svg, text") {
		t.Errorf("%+v", r)
	}
	if r := hikyaku(t, "", nil, "graph"); r.code != exitFailed || !strings.Contains(r.stderr, "-c FILE") {
		t.Errorf("%+v", r)
	}
	if r := hikyaku(t, "", nil, "schema"); r.code != 0 || r.stdout != string(config.JSONSchema()) {
		t.Errorf("schema: %d, %d bytes", r.code, len(r.stdout))
	}
}
