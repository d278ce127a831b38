package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/access"
)

func newUser() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "Prepare users of a configuration",
		Long:  "Commands about the users of a configuration. They need no running hikyaku.",
	}
	return group(cmd, newUserHash())
}

func newUserHash() *cobra.Command {
	return &cobra.Command{
		Use:   "hash",
		Short: "Make the argon2id hash of a secret",
		Long: `Reads a secret, one line of the standard input, and writes its argon2id hash, for secret_hash in a
configuration or a line of a secret_file. Where only the hash is known, the secret has to be sent to be checked: over HTTP, Pub/Sub and
MySQL that is so, SQS and Lambda need the secret itself.`,
		Example: "  openssl rand -base64 24 | tee secret.txt | hikyaku user hash",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 1<<16)).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("read the secret: %w", err)
			}
			secret := strings.TrimRight(line, "\r\n")
			if len(secret) < access.MinSecretBytes {
				return &usageError{fmt.Errorf("the secret has %d characters, fewer than %d", len(secret),
					access.MinSecretBytes), "give it as one line of the standard input: openssl rand -base64 24 | " +
					"hikyaku user hash"}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), access.HashSecret(secret))
			return err
		},
	}
}
