package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestOccupyTellsWhatMessagesAndIndexesTake(t *testing.T) {
	for _, indexed := range []string{"false", "true"} {
		var out bytes.Buffer
		if err := Occupy(t.Context(), []string{"--dir", t.TempDir(), "--depth", "5000", "--indexed=" + indexed},
			&out); err != nil {
			t.Fatal(err)
		}
		var o occupancy
		if err := json.Unmarshal(out.Bytes(), &o); err != nil {
			t.Fatalf("%v in %s", err, out.Bytes())
		}
		if o.Empty.RSS <= 0 || o.Filled.RSS <= 0 || o.Filled.Heap <= o.Empty.Heap {
			t.Errorf("indexed %s: %+v", indexed, o)
		}
		if (o.Indexed != nil) != (indexed == "true") || o.Indexed != nil && o.Indexed.Heap <= o.Filled.Heap {
			t.Errorf("indexed %s: %+v, %+v", indexed, o.Filled, o.Indexed)
		}
	}
}

func TestOccupySaysWhatItCannotDo(t *testing.T) {
	for name, args := range map[string][]string{
		"an unknown flag": {"--nonsense"},
		"no folder":       {"--dir", "/nonexistent", "--depth", "1"},
	} {
		if err := Occupy(t.Context(), args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "occupy") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Occupy(ctx, []string{"--dir", t.TempDir(), "--depth", "1"}, &bytes.Buffer{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func TestMemoryThatCannotBeMeasuredIsSaid(t *testing.T) {
	s := quickSession(t)
	if err := s.memory(t.Context(), false); err != nil || len(s.Report.Rows) != 0 || len(s.Report.Notes) != 1 {
		t.Errorf("without a command: %v, notes %q", err, s.Report.Notes)
	}
	for name, c := range map[string]struct {
		command []string
		want    string
	}{
		"absent":   {[]string{"/nonexistent/program"}, "no such file"},
		"fails":    {[]string{"sh", "-c", "echo no room >&2; exit 3", "sh"}, "no room"},
		"babbles":  {[]string{"sh", "-c", "echo hello", "sh"}, "hello"},
		"is empty": {[]string{"true"}, "wrote"},
	} {
		s.Occupant = c.command
		if err := s.memory(t.Context(), false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a command that %s: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(s.Temp); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestProcessOfItsOwnEndsWithTheBench(t *testing.T) {
	s := quickSession(t)
	s.Occupant = []string{"sh", "-c", "echo begun >&2; exec sleep 1000", "sh"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.memory(ctx, true); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}
