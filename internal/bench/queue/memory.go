package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// memory measures a process of its own in which messages wait, bare or with two indexed columns.
func (s *session) memory(ctx context.Context, indexed bool) error {
	if len(s.Occupant) == 0 {
		s.Report.Note("memory was not measured, because no command was given that fills a process of its own")
		return nil
	}
	found, err := s.occupant(ctx, indexed)
	if err != nil {
		return err
	}
	s.Step()
	last, goals, columns := found.Filled, []harness.Goal{harness.AtMost("rss_mb", 200)}, 0
	if found.Indexed != nil {
		last, goals, columns = *found.Indexed, []harness.Goal{harness.AtMost("rss_mb", 280)}, indexedColumns
	}
	r := s.Report.Row(harness.CaseOurs, "memory").Set("depth", s.remembered).Set("bytes",
		harness.BodyBytes).Set("indexes", columns)
	each := func(now, before occupied, parts int) float64 {
		return math.Round(float64(now.Heap-before.Heap) / float64(s.remembered*parts))
	}
	r.Set("rss_mb", harness.Megabytes(last.RSS)).Set("heap_mb", harness.Megabytes(last.Heap)).Set("empty_rss_mb",
		harness.Megabytes(found.Empty.RSS)).
		Set("message_bytes", each(found.Filled, found.Empty, 1))
	if columns > 0 {
		r.Set("index_bytes", each(*found.Indexed, found.Filled, columns))
	}
	harness.Judge(r, s.Quick, goals...)
	return nil
}

// occupant runs Occupy in a process of its own, which ends with ctx.
func (s *session) occupant(ctx context.Context, indexed bool) (found occupancy, err error) {
	dir, err := os.MkdirTemp(s.Temp, "occupant-")
	if err != nil {
		return found, fmt.Errorf("make a folder for a store: %w", err)
	}
	defer func() { err = harness.JoinCleanup(err, os.RemoveAll(dir)) }()
	args := append(s.Occupant[1:len(s.Occupant):len(s.Occupant)],
		"--dir", filepath.Clean(dir), "--depth", strconv.Itoa(s.remembered), "--indexed="+strconv.FormatBool(indexed))
	cmd := exec.CommandContext(ctx, s.Occupant[0], args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		return found, fmt.Errorf("measure memory in a process of its own: %w: %s", err,
			strings.TrimSpace(complaint.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		return found, fmt.Errorf("measure memory in a process of its own: it wrote %q: %w", out.String(), err)
	}
	return found, nil
}
