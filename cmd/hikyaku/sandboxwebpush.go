package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/webpush"
)

const (
	webpushListen  = "127.0.0.1:2199"
	webpushControl = "127.0.0.1:7783"
)

func newSandboxWebPush() *cobra.Command {
	var (
		p             pushFlags
		subscriptions int
		anybody       bool
	)
	cmd := &cobra.Command{
		Use:   "webpush",
		Short: "A push service for browsers, and the browsers, until Ctrl-C",
		Long: `Takes encrypted messages as a push service does (RFC 8030), with VAPID (RFC 8292), and decrypts them as a browser would (RFC 8291). It
makes a certificate authority and an application server's key in a folder, prints subscriptions, one a line, and shows a configuration
that uses them.
` + fmt.Sprintf(behaviourHelp, webpushControl, "Gone"),
		Example: "  hikyaku sandbox webpush --subscriptions 10",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if subscriptions < 0 {
				return errors.New("--subscriptions cannot be negative")
			}
			b, err := p.read(cmd)
			if err != nil {
				return err
			}
			c := webpush.Config{Config: p.farEnd(cmd, b), Plain: p.plain, Anybody: anybody}
			if c.Authority, err = p.authority(); err != nil {
				return err
			}
			if _, err := p.kept("vapid.pem", func() ([]byte, error) {
				k, err := apns.NewKey("", "vapid") // the same kind of key
				if err != nil {
					return nil, err
				}
				return k.PEM, nil
			}); err != nil {
				return err
			}
			s, err := webpush.Start(c)
			if err != nil {
				return err
			}
			defer s.Close()
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "taking messages at %s\n\n", s.URL())
			fmt.Fprintf(w, `  sinks:
    browsers:
      type: webpush
      inputs: [...]
      key_file: %s
      subject: mailto:push@example.com
      services: [%s]
      ca_file: %s

`, p.path("vapid.pem"), s.Addr(), p.path("authority.pem"))
			out := json.NewEncoder(w)
			for range subscriptions {
				sub, err := s.Subscribe("")
				if err != nil {
					return err
				}
				if err := out.Encode(sub); err != nil {
					return err
				}
			}
			return p.serveControl(cmd.Context(), w, s.Server)
		},
	}
	p.register(cmd, webpushListen, webpushControl, "hikyaku-sandbox")
	cmd.Flags().IntVar(&subscriptions, "subscriptions", 1, "how many to make")
	cmd.Flags().BoolVar(&anybody, "no-token", false, "wants no VAPID token")
	return cmd
}
