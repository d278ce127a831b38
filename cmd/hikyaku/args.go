package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// noArgs refuses arguments, as a mistake on the command line; one that looks like a subcommand gets suggestions.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return &usageError{fmt.Errorf("%s takes no argument %q", cmd.CommandPath(), args[0]), seeHelp(cmd)}
	}
	hint := seeHelp(cmd)
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		if one := nearest.Name(args[0], near); one != "" {
			near = []string{one}
		}
		hint = "did you mean " + cmd.CommandPath() + " " + strings.Join(near, " or ") + "? " + hint
	}
	return &usageError{fmt.Errorf("%s has no command %q", cmd.CommandPath(), args[0]), hint}
}

// oneArg wants exactly one argument; what names it: "the NAME of a queue".
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return &usageError{fmt.Errorf("%s needs %s", cmd.CommandPath(), what), seeHelp(cmd)}
		case len(args) > 1:
			return &usageError{fmt.Errorf("%s takes one argument, %s, and %q is one too many", cmd.CommandPath(), what,
				args[1]), seeHelp(cmd)}
		}
		return nil
	}
}

// namedArgs wants exactly these arguments.
func namedArgs(whats ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(whats):
			return &usageError{fmt.Errorf("%s needs %s", cmd.CommandPath(), whats[len(args)]), seeHelp(cmd)}
		case len(args) > len(whats):
			return &usageError{fmt.Errorf("%s takes %s, and %q is one too many", cmd.CommandPath(),
				strings.Join(whats, " and "), args[len(whats)]), seeHelp(cmd)}
		}
		return nil
	}
}

// group makes a command of others: alone it shows its help, and what it does not know is a mistake.
func group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.SuggestionsMinimumDistance = suggestionDistance
	cmd.AddCommand(commands...)
	return cmd
}

// suggestionDistance is how many letters a suggested command may differ by.
const suggestionDistance = 2

func seeHelp(cmd *cobra.Command) string { return "see " + cmd.CommandPath() + " --help" }

// helpCommand is `hikyaku help`, which refuses what is no command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := noArgs(about, rest); err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// notNegative refuses a duration that would count backwards.
func notNegative(flag string, d time.Duration) error {
	if d < 0 {
		return &usageError{fmt.Errorf("--%s %s: a duration is not negative", flag, d), "write --" + flag + " 30s"}
	}
	return nil
}
