package picture

import "strings"

// Picture is what a configuration joins to what: doors, topics, queues and the pipeline's parts.
type Picture struct {
	Things []Thing // each before those that are made of it in the file
	Ways   []Way
}

// Thing is one of them.
type Thing struct {
	Kind string // door, topic, queue, source, transform or sink
	Name string // of its kind it is the only one of that name
	Note string // a type, an address; may be empty
}

// Way is where messages go from one thing to another.
type Way struct {
	From, To int    // in Things
	Label    string // a condition or a port; may be empty
	Dead     bool   // only what is given up goes there
}

// Only is the part of a picture whose things are kept, with the ways between them.
func (p *Picture) Only(keep func(*Thing) bool) *Picture {
	part, at := &Picture{}, make([]int, len(p.Things))
	for i := range p.Things {
		if at[i] = -1; keep(&p.Things[i]) {
			at[i] = len(part.Things)
			part.Things = append(part.Things, p.Things[i])
		}
	}
	for _, w := range p.Ways {
		if w.From, w.To = at[w.From], at[w.To]; w.From >= 0 && w.To >= 0 {
			part.Ways = append(part.Ways, w)
		}
	}
	return part
}

// Shown is a text on one line: conditions may have several.
func Shown(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
}

const longestLabel = 40 // letters

// short is a label on one line, cut where it is long.
func short(text string) string {
	runes := []rune(Shown(text))
	if len(runes) > longestLabel {
		return string(runes[:longestLabel-1]) + "…"
	}
	return string(runes)
}

// lines are a thing's lines of text.
func (t *Thing) lines() []string {
	ls := []string{short(t.Name)}
	if t.Note != "" {
		ls = append(ls, short(t.Note))
	}
	return ls
}
