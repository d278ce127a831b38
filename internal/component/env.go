package component

import (
	"context"
	"io"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/pace"
)

// Env is what a component may use of the house it is built in. A kind is built by
//
//	func New(c Config, env component.Env) (component.Sink, error)
//
// where Config is the kind's own struct with yaml tags. New checks its settings (errors are SettingErrors), opens
// nothing and waits for nothing: `hikyaku validate` calls it too. What is to be opened, Start opens.
type Env struct {
	Name   string        // of the component in the configuration
	Store  queue.Service // nil while only checking
	Stdin  io.Reader
	Stdout io.Writer
	// the folder of the configuration file: relative paths in settings start at the working directory, templates may
	// use it
	Dir string
	// Pacer plays what has to be on time in a process of its own; nil: it is played in this one.
	Pacer *pace.Host
	// Functions runs functions; nil while only checking.
	Functions Functions
	// Campaigns says which campaigns go on; nil: there are none.
	Campaigns *campaign.Registry
	// Outbound says which addresses may be reached that not the operator alone decides on; nil: all.
	Outbound *outbound.Policy
	// Busy is the process's account of what requests hold in memory, for sources that listen; nil: there is no bound.
	Busy *door.Busy
}

// Functions runs functions by name, and by version or alias. Its method may be called from any goroutine; its errors
// are those of package function, and an error of the function itself is a Result.
type Functions interface {
	Invoke(ctx context.Context, r function.Request) (*function.Result, error)
}
