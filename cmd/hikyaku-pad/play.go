package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/pace"
)

func playFile(ctx context.Context, host *pace.Host, args []string) error {
	f := newFlags("play")
	f.played()
	f.meaning()
	at := f.String("at", "", "the `MOMENT` at which the macro is to have its effect: 20:15:00, or as RFC 3339 has it")
	lead := f.Duration("lead", 0, "by how much earlier it is written, as calibrate measures it")
	files, err := f.parse(args)
	if err != nil {
		return err
	}
	o, err := f.options(host)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return usageError{errors.New("play needs one FILE")}
	}
	o.Lead = *lead
	if o.At, err = command.ParseMoment(*at, *lead, time.Now()); err != nil {
		return usageError{fmt.Errorf("--at, --lead: %w", err)}
	}
	text, err := command.ReadFile(files[0], os.Stdin)
	if err != nil {
		return err
	}
	return command.Play(ctx, files[0], text, o)
}

func calibrate(ctx context.Context, host *pace.Host, args []string) error {
	f := newFlags("calibrate")
	f.played()
	rounds := f.Int("rounds", 0, "how `OFTEN` a button is pressed; 0: 300 times")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usageError{fmt.Errorf("calibrate takes no argument %q", rest[0])}
	}
	if *rounds < 0 || *rounds > command.MostRounds {
		return usageError{fmt.Errorf("--rounds %d is not from 1 to %d", *rounds, command.MostRounds)}
	}
	o, err := f.options(host)
	if err != nil {
		return err
	}
	return command.Calibrate(ctx, *rounds, o)
}
