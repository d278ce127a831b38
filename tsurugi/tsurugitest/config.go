package tsurugitest

import (
	"time"
)

// Config says what the server is like. The zero value is TsurugiDB 1.9 as it is installed.
type Config struct {
	Listen      string            // host:port; default: a free port of 127.0.0.1
	Users       map[string]string // names and passwords; without any, and without Tokens, everybody may come in
	Tokens      map[string]string // and the users that they are for
	SessionLife time.Duration     // without a request; default 300 s
	Sessions    int               // at a time; default 104
	MaxRows     int               // of one INSERT; default 5,000
	Chunk       int               // bytes of a frame of a result set; default 32 KiB
	Writers     int               // that a result set comes from; default 1
	// accept the messages of clients that are newer than the server: those of the framework up to 2.1, the endpoint up
	// to 0.2, SQL up to 2.1
	Newest bool
	// offer the service that large objects go through over the network, as servers after 1.9 do, at another port of the
	// same host; this makes the server Newest
	Relay bool
}

const (
	defaultListen      = "127.0.0.1:0"
	defaultSessionLife = 300 * time.Second
	defaultSessions    = 104
	defaultMaxRows     = 5_000
	defaultChunk       = 32 << 10
)

func (c Config) withDefaults() Config {
	c.Listen = or(c.Listen, defaultListen)
	c.SessionLife = or(c.SessionLife, defaultSessionLife)
	c.Sessions = or(c.Sessions, defaultSessions)
	c.MaxRows = or(c.MaxRows, defaultMaxRows)
	c.Chunk = or(c.Chunk, defaultChunk)
	c.Writers = or(c.Writers, 1)
	c.Newest = c.Newest || c.Relay
	return c
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
