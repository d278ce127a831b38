package bench

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// RunOntoPage is Run with its findings in a folder: NAME.md with the tables, and the pictures that it shows, in place
// of those of an earlier run. Each picture has in its desc what the page begins with, so that one of another run is
// seen. Nothing is written when the run fails. What o says of its output has no effect.
func (b Bench) RunOntoPage(ctx context.Context, o harness.Options, dir string) (err error) {
	drawn, err := os.MkdirTemp("", "hikyaku-pictures-")
	if err != nil {
		return fmt.Errorf("make a folder for pictures: %w", err)
	}
	defer func() { err = harness.JoinCleanup(err, os.RemoveAll(drawn)) }()
	var tables bytes.Buffer
	o.Plots, o.Out, o.Markdown, o.JSON = drawn, &tables, true, false
	stamp := runStamp(b.Name, time.Now(), measure.ThisMachine())
	if err := b.Run(ctx, o); err != nil {
		return err
	}
	return writePage(dir, b.Name, stamp, tables.String(), drawn)
}

// runStamp tells one run from every other: what was run, when it began, and where.
func runStamp(name string, began time.Time, m measure.Machine) string {
	where := fmt.Sprintf("%d processors", m.CPUs)
	if m.CPUModel != "" {
		where += " (" + m.CPUModel + ")"
	}
	when := began.UTC().Format("2006-01-02 15:04:05 UTC")
	return fmt.Sprintf("hikyaku bench %s, %s, %s, %s %s, %s", name, when, where, m.OS, m.Kernel, m.Go)
}

// writePage moves the pictures of a run below dir and writes the page that shows them.
func writePage(dir, name, stamp, tables, drawn string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of the page: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(dir, name+"-*.svg"))
	if err != nil {
		return err
	}
	for _, picture := range old {
		if err := os.Remove(picture); err != nil {
			return fmt.Errorf("remove a picture of an earlier run: %w", err)
		}
	}
	pictures, err := filepath.Glob(filepath.Join(drawn, "*.svg"))
	if err != nil {
		return err
	}
	slices.Sort(pictures)
	var page strings.Builder
	fmt.Fprintf(&page, "# Bench %s\n\n%s\n\nThe tables and the pictures are of this run; [measured.md](../measured.md) "+
		"tells what is measured.\n\n%s", name, stamp, tables)
	for _, picture := range pictures {
		svg, err := os.ReadFile(picture)
		if err != nil {
			return fmt.Errorf("read a picture: %w", err)
		}
		file := filepath.Base(picture)
		if err := os.WriteFile(filepath.Join(dir, file), stamped(svg, stamp), 0o644); err != nil {
			return fmt.Errorf("write a picture: %w", err)
		}
		fmt.Fprintf(&page, "\n![%s](%s)\n", html.UnescapeString(between(svg, "<title>", "</title>")), file)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(page.String()), 0o644); err != nil {
		return fmt.Errorf("write the page of a run: %w", err)
	}
	return nil
}

// stamped is a picture that says below its title of which run it is.
func stamped(svg []byte, stamp string) []byte {
	const title = "</title>\n"
	return bytes.Replace(svg, []byte(title), []byte(title+"<desc>"+html.EscapeString(stamp)+"</desc>\n"), 1)
}

// between is what stands between two texts; "" if they do not both occur.
func between(svg []byte, before, after string) string {
	_, rest, _ := strings.Cut(string(svg), before)
	text, _, found := strings.Cut(rest, after)
	if !found {
		return ""
	}
	return text
}
