package pipeline

import "github.com/hikyaku/hikyaku/internal/queue"

// feeders tells for each source which other sources it has to wait for in a finite run: those that lead into a queue it
// drains. Sources that feed each other in a circle are left out, as they would wait for ever.
func (g *graph) feeders() map[*node][]*node {
	var sources []*node
	for _, n := range g.nodes {
		if n.kind == KindSource {
			sources = append(sources, n)
		}
	}
	fed := map[string]set{} // by queue: the sources that lead into it
	for _, n := range g.nodes {
		if n.kind == KindSource {
			continue
		}
		for _, name := range append([]string{n.deadQueue.String()}, n.Feeds...) {
			name = fullName(name)
			if fed[name] == nil {
				fed[name] = newSet(len(g.nodes))
			}
			for _, s := range sources {
				if n.sources.has(s.index) {
					fed[name].add(s.index)
				}
			}
		}
	}
	direct := map[*node]set{}
	reach := map[*node]set{} // direct, and through other queues
	for _, s := range sources {
		direct[s], reach[s] = newSet(len(g.nodes)), newSet(len(g.nodes))
		for _, name := range s.Drains {
			for i, bits := range fed[fullName(name)] {
				direct[s][i] |= bits
				reach[s][i] |= bits
			}
		}
	}
	for _, via := range sources {
		for _, s := range sources {
			if reach[s].has(via.index) {
				for i, bits := range reach[via] {
					reach[s][i] |= bits
				}
			}
		}
	}
	wait := map[*node][]*node{}
	for _, s := range sources {
		for _, f := range sources {
			if direct[s].has(f.index) && !reach[f].has(s.index) {
				wait[s] = append(wait[s], f)
			}
		}
	}
	return wait
}

// fullName gives names with and without the default namespace one form.
func fullName(name string) string {
	if n, err := queue.ParseName(name); err == nil {
		return n.String()
	}
	return name
}
