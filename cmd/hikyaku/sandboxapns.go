package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
)

const (
	apnsListen  = "127.0.0.1:2197"
	apnsControl = "127.0.0.1:7781"
)

func newSandboxAPNs() *cobra.Command {
	var (
		p         pushFlags
		team, key string
		topics    []string
		oneUntil  bool
		anybody   bool
		updates   time.Duration
	)
	cmd := &cobra.Command{
		Use:   "apns",
		Short: "A far end that takes pushes as Apple does, until Ctrl-C",
		Long: `Takes pushes at /3/device/TOKEN, and broadcasts to channels, and checks them as Apple documents: paths, headers, tokens, topics,
sizes, and the signature and age of provider tokens. It makes a certificate authority, a key and a client's certificate in a folder, and
shows a configuration that uses them.
` + fmt.Sprintf(behaviourHelp, apnsControl, "Unregistered"),
		Example: "  hikyaku sandbox apns --latency 40ms --sigma 0.8 --newcomers 20\n" +
			"  hikyaku sandbox apns --one-stream-until-token --streams 100",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := p.read(cmd)
			if err != nil {
				return err
			}
			b.OneUntilTrusted = b.OneUntilTrusted || oneUntil
			c := apns.Config{
				Config: p.farEnd(cmd, b), Plain: p.plain, Topics: topics, Anybody: anybody,
				TokenUpdates: updates,
			}
			if c.Authority, err = p.authority(); err != nil {
				return err
			}
			keyFile := "AuthKey_" + key + ".p8"
			text, err := p.kept(keyFile, func() ([]byte, error) {
				k, err := apns.NewKey(team, key)
				if err != nil {
					return nil, err
				}
				return k.PEM, nil
			})
			if err != nil {
				return err
			}
			k, err := apns.ReadKey(team, key, text)
			if err != nil {
				return fmt.Errorf("%s: %w", p.path(keyFile), err)
			}
			c.Keys = []*apns.Key{k}
			app := firstOr(topics, "com.example.news")
			if _, err := p.kept("client-"+app+".pem", func() ([]byte, error) {
				_, cert, key, err := c.Authority.Client(app)
				return append(cert, key...), err
			}); err != nil {
				return err
			}
			s, err := apns.Start(c)
			if err != nil {
				return err
			}
			defer s.Close()
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "taking pushes at %s\n\n", s.URL())
			fmt.Fprintf(w, `  sinks:
    phones:
      type: apns
      inputs: [...]
      apps:
        %[1]s: { team: %[2]s, key_id: %[3]s, key_file: %[4]s, endpoint: %[5]s, ca_file: %[6]s }
        # or with a certificate:
        # %[1]s: { cert_file: %[7]s, endpoint: %[5]s, ca_file: %[6]s }

`, app, team, key, p.path(keyFile), s.Addr(), p.path("authority.pem"), p.path("client-"+app+".pem"))
			return p.serveControl(cmd.Context(), w, s.Server)
		},
	}
	p.register(cmd, apnsListen, apnsControl, "hikyaku-sandbox")
	f := cmd.Flags()
	f.StringVar(&team, "team", "TEAM123456", "`ID` of the team")
	f.StringVar(&key, "key", "KEY1234567", "`ID` of its key")
	f.StringSliceVar(&topics, "topic", nil, "`TOPICS` that may be pushed to; none: all")
	f.BoolVar(&oneUntil, "one-stream-until-token", false, "a connection has one stream until a valid token")
	f.BoolVar(&anybody, "no-token", false, "wants no provider token, for h2load and its like")
	f.DurationVar(&updates, "token-updates", 0, "a key's tokens may change once in this `TIME` (Apple: 20m), 0: as "+
		"they like")
	return cmd
}

func firstOr(list []string, other string) string {
	if len(list) > 0 {
		return list[0]
	}
	return other
}
