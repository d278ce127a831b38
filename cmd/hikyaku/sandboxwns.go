package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/wns"
)

const (
	wnsListen  = "127.0.0.1:2201"
	wnsControl = "127.0.0.1:7785"
)

func newSandboxWNS() *cobra.Command {
	var (
		p        pushFlags
		app      wns.App
		channels int
		both     bool
		seen     bool
		anybody  bool
	)
	cmd := &cobra.Command{
		Use:   "wns",
		Short: "A far end that takes notifications as Windows' push service does, until Ctrl-C",
		Long: `Takes notifications at channels (/?token=TOKEN) and issues access tokens at /accesstoken.srf, or with --tenant at
/TENANT/oauth2/v2.0/token, and checks both as Microsoft documents, over HTTP/1.1. It makes a certificate authority and a secret in a
folder, prints channels, one a line, and shows a configuration that uses them.
` + fmt.Sprintf(behaviourHelp, wnsControl, "Gone") + `

Over HTTP/1.1 only refuse and silence befall a request.`,
		Example: "  hikyaku sandbox wns --channels 10 --latency 60ms --sigma 0.5",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if channels < 0 {
				return errors.New("--channels cannot be negative")
			}
			b, err := p.read(cmd)
			if err != nil {
				return err
			}
			c := wns.Config{Config: p.farEnd(cmd, b), HTTP2: both, Plain: p.plain, Anybody: anybody,
				NotificationStatus: seen}
			if c.Authority, err = p.authority(); err != nil {
				return err
			}
			secret, err := p.kept("wns.secret", func() ([]byte, error) { return []byte(rand.Text() + "\n"), nil })
			if err != nil {
				return err
			}
			app.Secret = strings.TrimSpace(string(secret))
			c.Apps = []wns.App{app}
			s, err := wns.Start(c)
			if err != nil {
				return err
			}
			defer s.Close()
			tenant := ""
			if app.Tenant != "" {
				tenant = "\n          tenant: " + app.Tenant
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "taking messages at %s\n\n", s.URL())
			fmt.Fprintf(w, `  sinks:
    desktops:
      type: wns
      inputs: [...]
      apps:
        news:
          client_id: "%s"%s
          secret_file: %s
          token_url: %s
      hosts: ["%s"]
      ca_file: %s

`, app.ID, tenant, p.path("wns.secret"), s.TokenURL(app.Tenant), s.Addr(), p.path("authority.pem"))
			for range channels {
				fmt.Fprintln(w, s.Channel(app.ID))
			}
			return p.serveControl(cmd.Context(), w, s.Server)
		},
	}
	p.register(cmd, wnsListen, wnsControl, "hikyaku-sandbox")
	cmd.Flags().StringVar(&app.ID, "app", "ms-app://s-1-15-2-1", "`ID` of the app")
	cmd.Flags().StringVar(&app.Tenant, "tenant", "", "`ID` of a tenant of Microsoft Entra; not set: the app is the Store's")
	cmd.Flags().IntVar(&channels, "channels", 1, "how many to make")
	cmd.Flags().BoolVar(&both, "http2", false, "speaks HTTP/2, too, which is not documented")
	cmd.Flags().BoolVar(&seen, "notification-status", false,
		"says what was done in X-WNS-NotificationStatus, as the real WNS was seen to, and not in X-WNS-Status")
	cmd.Flags().BoolVar(&anybody, "no-token", false, "wants no access token, for h2load and its like")
	return cmd
}
