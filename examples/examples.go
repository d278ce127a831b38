// Package examples holds configurations that run as they stand. The demo runs the first of them; a test runs all.
package examples

import "embed"

// Files are the configurations.
//
//go:embed *.yaml
var Files embed.FS

// Dpkg is the name of the main job: a Debian machine's package log, kept, chosen, reshaped and delivered.
const Dpkg = "dpkg.yaml"
