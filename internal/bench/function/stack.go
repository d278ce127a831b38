package function

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// stacks shows what runs inside an instance.
func (s *session) stacks(ctx context.Context) error {
	for _, l := range s.runtimes {
		err := s.with(func(p *functionPool) error {
			c, err := p.call(ctx, workStackTrace, "{}")
			if err != nil {
				return err
			}
			found := readStacks(c)
			stats, err := p.Stats(workStackTrace, "")
			if err != nil {
				return err
			}
			r := s.Report.Row(l.name, workStackTrace).Set("threads", max(len(found.threads), 1)).Set("frames",
				len(found.frames))
			if len(stats.Instances) > 0 {
				// the pattern is right
				tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(stats.Instances[0].Pid) + "/task/*")
				if len(tasks) > 0 {
					r.Set("tasks", len(tasks))
				}
			}
			c.bills(r).Set("stack", strings.Join(found.frames, " < ")).Set("because", found.because())
			return nil
		}, l.definition(workStackTrace))
		if err != nil {
			return err
		}
	}
	s.Step()
	return nil
}

// stacked is what a function printed about itself.
type stacked struct {
	threads []string // by name, where they have names
	frames  []string // of the handler, with what calls all others at the end
}

func (f stacked) because() string {
	parts := []string{"a client of the Runtime API that asks, calls the handler and answers, and no container around it"}
	if len(f.frames) > 0 {
		parts[0] += ": below the handler lies " + f.frames[len(f.frames)-1]
	}
	if len(f.threads) > 1 {
		parts = append(parts, "its threads are "+strings.Join(f.threads, ", "))
	}
	return because(parts...)
}

// readStacks reads what the functions print: threads, and the frames of the handler's.
func readStacks(c *invoked) (found stacked) {
	var lines []string
	for _, l := range c.lines {
		if !l.Ours {
			lines = append(lines, strings.Split(l.Text, "\r")...) // Node.js writes the lines of one message so
		}
	}
	outermostFirst := false
	for _, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case strings.HasPrefix(text, "goroutine "):
			number, _, _ := strings.Cut(text, " [")
			found.threads = append(found.threads, number)
		case strings.HasPrefix(text, `"`):
			name, _, _ := strings.Cut(text[1:], `"`)
			found.threads = append(found.threads, name)
		case strings.HasPrefix(text, `File "`) && len(found.threads) == 1:
			outermostFirst = true
			found.frames = append(found.frames, frameName(text))
		case strings.HasPrefix(text, "at ") && len(found.threads) == 0,
			strings.HasSuffix(text, ")") && strings.HasPrefix(line, "main.") && len(found.threads) == 1:
			found.frames = append(found.frames, frameName(text))
		}
	}
	if outermostFirst { // so does Python
		slices.Reverse(found.frames)
	}
	return found
}

// frameName shortens a frame.
func frameName(text string) string {
	if rest, ok := strings.CutPrefix(text, `File "`); ok {
		file, rest, _ := strings.Cut(rest, `"`)
		_, in, _ := strings.Cut(rest, ", in ")
		return filepath.Base(file) + " " + in
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "at "), "(")
	return strings.TrimSpace(name)
}
