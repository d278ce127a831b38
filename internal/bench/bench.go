package bench

import (
	"context"
	"io"
)

// Options say how a bench runs and where its findings go.
type Options struct {
	Quick bool   // a few seconds: to see that it works, not to believe the figures
	JSON  bool   // one JSON object instead of a table
	Plots string // folder for SVG pictures, made when missing; "": none
	Dir   string // folder in which temporary files are made, on the disk to be measured; "": the system's

	Out      io.Writer // where the findings are written; nil: nowhere
	Progress io.Writer // where the progress bar is drawn, usually stderr; nil: nowhere
	Terminal bool      // Progress is a terminal; otherwise there is no bar
}

// Bench is one experiment.
type Bench struct {
	Name    string
	Summary string // one line for people
	// Run measures and writes what it found. It ends early, with ctx's error, when ctx ends, and leaves no file behind but
	// the plots that were asked for.
	Run func(ctx context.Context, o Options) error
}

// All lists the experiments by name.
func All() []Bench {
	return []Bench{
		{
			Name:    "queue",
			Summary: "durable puts, claims and restarts of the store, beside the disk's own limit",
			Run:     Queue,
		},
	}
}
