package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

func newHealth() *cobra.Command {
	var r remote
	var ready bool
	var within time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Tell by the exit status whether a server answers",
		Long: `Asks the HTTP door of a running hikyaku whether it answers, and with --ready whether it takes messages. The exit
status is 0 if so, and 1 with the reason if not: for a container's health check, and for scripts that wait for a server. It
needs no secret.

A server that does not answer may be started again; one that is not ready, for example since its disk is full, is better
left alone: readers go on, and make room.`,
		Example: `  hikyaku health
  hikyaku health --ready --url http://127.0.0.1:7700`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(cmd.Context(), within)
			defer cancel()
			ask := (*httpdoor.Client).Live
			if ready {
				ask = (*httpdoor.Client).Ready
			}
			return r.reached(ask(c, ctx))
		},
	}
	r.register(cmd)
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it takes messages, too")
	cmd.Flags().DurationVar(&within, "timeout", 5*time.Second, "how long it may take to answer")
	return cmd
}
