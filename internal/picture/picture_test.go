package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// awkward is a picture whose texts have all that other formats give a meaning, with a circle and a way to itself.
func awkward() *Picture {
	return &Picture{
		Things: []Thing{{"queue", "飛脚", ""}, {"queue", "墓", ""}, {"source", "in", "queue"},
			{"transform", "pass", "filter"}, {"sink", `<b a="&">'` + "\x00\xff", "queue"}, {"queue", "again", ""},
			{"source", "more", "queue"}},
		Ways: []Way{{0, 1, "", true}, {0, 2, "a = '\"<b>&\\\\' and\n  c < 5 or d = '#`|]'", false}, {2, 3, "", false},
			{6, 3, "", false}, {3, 4, "x = '東京'", false}, {4, 5, "", false}, {5, 6, "", false}, {5, 5, "", true}},
	}
}

// many is a picture of n queues, each the graveyard of another.
func many(n int) *Picture {
	p := &Picture{}
	for i := range n {
		p.Things = append(p.Things, Thing{"queue", fmt.Sprint("q", i), ""})
		p.Ways = append(p.Ways, Way{i, (i*7 + 1) % n, "", true})
	}
	return p
}

func TestAPictureIsSoundXML(t *testing.T) {
	for name, p := range map[string]*Picture{"awkward": awkward(), "one": many(1), "many": many(300)} {
		var b strings.Builder
		if err := p.SVG(&b, `a "<title>" & more`); err != nil {
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
	}
}

func TestNoBoxLiesOnAnother(t *testing.T) {
	for name, p := range map[string]*Picture{"awkward": awkward(), "one": many(1), "many": many(300)} {
		for _, letters := range []int{0, 24} {
			d := p.LayOut(letters)
			for i, a := range d.Boxes {
				if a.X < 0 || a.X+a.Width > d.Width || a.Y < 0 || a.Y+a.Height > d.Height {
					t.Errorf("%s: %s lies outside", name, p.Things[i].Name)
				}
				if last := a.Lines[len(a.Lines)-1]; letters > 0 && (a.More <= last.Y || a.More >= a.Y+a.Height) {
					t.Errorf("%s: the line more of %s is at %v: the one before at %v, the end at %v", name,
						p.Things[i].Name, a.More, last.Y, a.Y+a.Height)
				}
				if a.Width < float64(letters)*letterWidth {
					t.Errorf("%s: %d letters do not fit in %s", name, letters, p.Things[i].Name)
				}
				for j, c := range d.Boxes[:i] {
					if a.X < c.X+c.Width && c.X < a.X+a.Width && a.Y < c.Y+c.Height && c.Y < a.Y+a.Height {
						t.Errorf("%s: %s lies on %s", name, p.Things[i].Name, p.Things[j].Name)
					}
				}
			}
		}
		d := layOut(p, 0)
		for i := range p.Ways {
			if left, right := d.ends(i); left != right && d.spots[left].column >= d.spots[right].column {
				t.Errorf("%s: way %d goes from column %d to %d", name, i, d.spots[left].column, d.spots[right].column)
			}
		}
	}
}

func TestALongJapaneseNameFitsItsBox(t *testing.T) {
	p := Picture{Things: []Thing{{"queue", strings.Repeat("飛", 30), ""}}}
	if w := p.LayOut(0).Boxes[0].Width; w < 60*letterWidth {
		t.Errorf("its box is %v wide", w)
	}
}

func TestAPartOfAPictureHasTheWaysBetweenItsThings(t *testing.T) {
	p := awkward()
	part := p.Only(func(t *Thing) bool { return t.Kind == "queue" })
	var b strings.Builder
	if err := part.Text(&b, ""); err != nil {
		t.Fatal(err)
	}
	want := "queue 飛脚\n  -.-> queue 墓\nqueue 墓\nqueue again\n  -.-> queue again\n"
	if b.String() != want {
		t.Errorf("it is\n%s, not\n%s", b.String(), want)
	}
	if len(p.Things) != 7 || len(p.Ways) != 8 || p.Ways[2].From != 2 {
		t.Errorf("the whole has become %+v", p)
	}
}

func TestShownIsOneLine(t *testing.T) {
	if got := Shown("a\n\tb\xff  c"); got != "a b� c" {
		t.Errorf("%q", got)
	}
}
