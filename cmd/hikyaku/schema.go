package main

import (
	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/config"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a configuration, for editors",
		Long: `Prints the JSON Schema (draft-07) of a configuration. An editor that has it completes keys and values, shows what
each is for, and marks mistakes while you write: unknown keys, wrong types, numbers out of their range, settings that
another type of source, transform or sink has. hikyaku validate finds more: inputs that are missing, circles, conditions
and programs that do not parse.

With the YAML extension of VS Code, and every editor that runs yaml-language-server,
	this first line of a file is enough:

  # yaml-language-server: $schema=hikyaku.schema.json`,
		Example: `  hikyaku schema > hikyaku.schema.json`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.JSONSchema())
			return err
		},
	}
}
