package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

func newSandbox() *cobra.Command {
	return group(&cobra.Command{
		Use:   "sandbox",
		Short: "Far ends to try things against, which can be told to misbehave",
	}, newSandboxWebhook(), newSandboxAPNs(), newSandboxFCM(), newSandboxWebPush(), newSandboxHMS(),
		newSandboxWNS())
}

func newSandboxWebhook() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "A receiver for webhooks that counts what it gets, until Ctrl-C",
		Long: `Receives webhooks and counts them by message id. Left alone it answers 200; told to, it hangs, breaks connections,
refuses, asks for less, or answers with garbage:

  curl -X PUT http://127.0.0.1:7780/-/always -d '{"do": "status", "code": 503, "retry_after": "2"}'
  curl -X PUT http://127.0.0.1:7780/-/script -d '[{"do": "reset"}, {"do": "hang"}]'
  curl http://127.0.0.1:7780/-/counts`,
		Example: "  hikyaku sandbox webhook &\n  hikyaku -c examples/dpkg.yaml < /var/log/dpkg.log",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := webhook.Listen(listen)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "receiving at %s\n", s.URL())
			<-cmd.Context().Done()
			c := s.Counts()
			fmt.Fprintf(cmd.OutOrStdout(), "%d requests, %d delivered, %d messages, %d doubles\n", c.Requests,
				c.Delivered, c.Messages, c.Doubles)
			return s.Close()
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:7780", "`ADDRESS` to listen on")
	return cmd
}
