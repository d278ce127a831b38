package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func newValidate() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "validate -c FILE",
		Short: "Check a configuration without starting anything",
		Long: `Reads a configuration and reports every mistake at once: unknown keys, wrong values, missing inputs, cycles,
conditions and programs that do not parse, each with its line, its column and what to write instead. It warns of certificates and keys that are not there.`,
		Example: "  hikyaku validate -c examples/dpkg.yaml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return &usageError{errors.New("validate needs a configuration"), "hikyaku validate -c FILE"}
			}
			f, err := loadConfig(path, os.Stderr)
			if err != nil {
				return err
			}
			for _, missing := range f.MissingFiles() {
				fmt.Fprintln(os.Stderr, "warning:", missing.Error())
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is valid\n", path)
			return nil
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", "", "configuration `FILE` (.yaml, .toml or .json)")
	return cmd
}
