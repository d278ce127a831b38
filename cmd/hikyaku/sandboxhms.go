package main

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/hms"
)

const (
	hmsListen  = "127.0.0.1:2200"
	hmsControl = "127.0.0.1:7784"
)

func newSandboxHMS() *cobra.Command {
	var (
		p       pushFlags
		app     string
		old     bool
		anybody bool
	)
	cmd := &cobra.Command{
		Use:   "hms",
		Short: "A far end that takes messages as Huawei's Push Kit does, until Ctrl-C",
		Long: `Takes messages at /v1/ID/messages:send and issues access tokens at /oauth2/v3/token, and checks both as Huawei documents. It makes
a certificate authority and a secret in a folder, and shows a configuration that uses them.
` + fmt.Sprintf(behaviourHelp, hmsControl, "80300007"),
		Example: "  hikyaku sandbox hms --app 100123456 --latency 60ms --sigma 0.5",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := p.read(cmd)
			if err != nil {
				return err
			}
			c := hms.Config{Config: p.farEnd(cmd, b), Plain: p.plain, Anybody: anybody}
			c.OnlyHTTP1 = old
			if c.Authority, err = p.authority(); err != nil {
				return err
			}
			file := "hms-" + app + ".secret"
			secret, err := p.kept(file, func() ([]byte, error) { return []byte(rand.Text() + "\n"), nil })
			if err != nil {
				return err
			}
			c.Apps = []hms.App{{ID: app, Secret: strings.TrimSpace(string(secret))}}
			s, err := hms.Start(c)
			if err != nil {
				return err
			}
			defer s.Close()
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "taking messages at %s\n\n", s.URL())
			fmt.Fprintf(w, `  sinks:
    phones:
      type: hms
      inputs: [...]
      apps:
        news:
          client_id: "%s"
          secret_file: %s
          endpoint: %s
          token_url: %s
          ca_file: %s

`, app, p.path(file), s.Addr(), s.TokenURL(), p.path("authority.pem"))
			return p.serveControl(cmd.Context(), w, s.Server)
		},
	}
	p.register(cmd, hmsListen, hmsControl, "hikyaku-sandbox")
	cmd.Flags().StringVar(&app, "app", "100123456", "`ID` of the app")
	cmd.Flags().BoolVar(&old, "http1", false, "speaks HTTP/1.1 alone")
	cmd.Flags().BoolVar(&anybody, "no-token", false, "wants no access token, for h2load and its like")
	return cmd
}
