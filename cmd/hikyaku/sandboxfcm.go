package main

import (
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/fcm"
)

const (
	fcmListen  = "127.0.0.1:2198"
	fcmControl = "127.0.0.1:7782"
)

func newSandboxFCM() *cobra.Command {
	var (
		p       pushFlags
		project string
		anybody bool
	)
	cmd := &cobra.Command{
		Use:   "fcm",
		Short: "A far end that takes messages as FCM does, until Ctrl-C",
		Long: `Takes messages at /v1/projects/PROJECT/messages:send and issues access tokens at /token, and checks both as Google documents. It makes
a certificate authority and a service account in a folder, and shows a configuration that uses them.
` + fmt.Sprintf(behaviourHelp, fcmControl, "UNREGISTERED"),
		Example: "  hikyaku sandbox fcm --project news --latency 60ms --sigma 0.5",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := p.read(cmd)
			if err != nil {
				return err
			}
			c := fcm.Config{Config: p.farEnd(cmd, b), Plain: p.plain, Anybody: anybody}
			if c.Authority, err = p.authority(); err != nil {
				return err
			}
			file := "account-" + project + ".json"
			text, err := p.kept(file, func() ([]byte, error) {
				a, err := fcm.NewAccount(project)
				if err != nil {
					return nil, err
				}
				return a.JSON(tokenURL(p.listen)), nil
			})
			if err != nil {
				return err
			}
			a, err := fcm.ReadAccount(text)
			if err != nil {
				return fmt.Errorf("%s: %w", p.path(file), err)
			}
			c.Accounts = []*fcm.Account{a}
			s, err := fcm.Start(c)
			if err != nil {
				return err
			}
			defer s.Close()
			// The address may have changed since the file was made.
			if err := os.WriteFile(p.path(file), a.JSON(s.TokenURL()), 0o600); err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "taking messages at %s\n\n", s.URL())
			fmt.Fprintf(w, `  sinks:
    phones:
      type: fcm
      inputs: [...]
      projects:
        %s: { account_file: %s, endpoint: %s, ca_file: %s }

`, project, p.path(file), s.Addr(), p.path("authority.pem"))
			return p.serveControl(cmd.Context(), w, s.Server)
		},
	}
	p.register(cmd, fcmListen, fcmControl, "hikyaku-sandbox")
	cmd.Flags().StringVar(&project, "project", "news", "`ID` of the project")
	cmd.Flags().BoolVar(&anybody, "no-token", false, "wants no access token, for h2load and its like")
	return cmd
}

// tokenURL is where a far end that listens there issues tokens.
func tokenURL(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || host == "" {
		host = "127.0.0.1"
	}
	return "https://" + net.JoinHostPort(host, port) + "/token"
}
