package main

import (
	"context"

	"github.com/hikyaku/hikyaku/pace"
)

// pacerKey is under which the context of a command has the host of what has to be on time.
type pacerKey struct{}

func withPacer(ctx context.Context, host *pace.Host) context.Context {
	return context.WithValue(ctx, pacerKey{}, host)
}

// pacerOf is the host; nil if there is none.
func pacerOf(ctx context.Context) *pace.Host {
	host, _ := ctx.Value(pacerKey{}).(*pace.Host)
	return host
}
