package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/pace"
)

func serve(ctx context.Context, host *pace.Host, args []string) error {
	f := newFlags("serve")
	f.played()
	var p command.Page
	f.StringVar(&p.Listen, "listen", command.DefaultListen, "`ADDRESS` to listen on")
	f.Func("host", "a `NAME` that browsers may call this machine by", func(name string) error {
		p.Hosts = append(p.Hosts, name)
		return nil
	})
	file := f.String("text", "", "a `FILE` with the macro that stands in the box at first")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usageError{fmt.Errorf("serve takes no argument %q", rest[0])}
	}
	o, err := f.options(host)
	if err != nil {
		return err
	}
	p.Text = command.Welcome
	if *file != "" {
		text, err := command.ReadFile(*file, os.Stdin)
		if err != nil {
			return err
		}
		p.Text = string(text)
	}
	return command.Serve(ctx, p, o)
}
