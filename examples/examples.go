// Package examples holds configurations that run as they stand. The demo runs one of them; tests run all.
package examples

import "embed"

// Files are the configurations, and the tables that some of them read.
//
//go:embed *.yaml *.toml *.sql
var Files embed.FS

// The names of some of them.
const (
	// Dpkg is a Debian machine's package log, kept, chosen, reshaped and delivered.
	Dpkg = "dpkg.yaml"
	// Push is the main job: one message becomes a push for each user of a database, the tables of which PushTables
	// makes.
	Push       = "push.yaml"
	PushTables = "push.sql"
)
