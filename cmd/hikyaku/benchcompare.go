package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/bench"
)

func newBenchCompare() *cobra.Command {
	var before string
	c := bench.Comparison{Progress: os.Stderr}
	cmd := &cobra.Command{
		Use:   "compare --with PROGRAM BENCH [FLAGS OF THE BENCH]",
		Short: "Run a bench of this version and of another one in turns, and tell what has changed",
		Long: `Each round runs BENCH once with the other PROGRAM, an executable hikyaku, and once with this one, in changing order.
A figure's change is the median of the rounds' own changes. It is called worse, or better, when three quarters of the
rounds agree. Rows of peers and of the machine's limit are the control: what changes there is noise, or the machine.`,
		Example: `  hikyaku bench compare --with /usr/bin/hikyaku flow --only overhead
  hikyaku bench compare --with ./hikyaku-1.2 --rounds 12 --at-most 3 queue --only put --dir /var/tmp`,
		Args: func(cmd *cobra.Command, args []string) error {
			names := make([]string, 0, len(bench.All()))
			for _, b := range bench.All() {
				names = append(names, b.Name)
			}
			switch {
			case len(args) == 0:
				return &usageError{fmt.Errorf("%s needs the name of a BENCH", cmd.CommandPath()), seeHelp(cmd)}
			case !slices.Contains(names, args[0]):
				return &usageError{fmt.Errorf("there is no bench %q", args[0]), fmt.Sprint("choose from ", names)}
			case before == "":
				return &usageError{fmt.Errorf("%s needs --with PROGRAM: the other version", cmd.CommandPath()),
					seeHelp(cmd)}
			case c.Rounds < bench.MinRounds:
				return &usageError{fmt.Errorf("--rounds %d: too few to tell a change from noise", c.Rounds),
					fmt.Sprint("choose ", bench.MinRounds, " or more")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program, which is started once more: %w", err)
			}
			c.Before, c.Now, c.Args = []string{before, "bench"}, []string{self, "bench"}, args
			c.Out = cmd.OutOrStdout()
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the BENCH is the bench's
	cmd.Flags().StringVar(&before, "with", "", "compare with this `PROGRAM`: another version's hikyaku")
	cmd.Flags().IntVar(&c.Rounds, "rounds", 8, "how often each runs")
	cmd.Flags().Float64Var(&c.AtMost, "at-most", 0, "fail when a figure is worse by more `PERCENT` (0: never)")
	cmd.Flags().BoolVar(&c.JSON, "json", false, "print one JSON object instead of a table")
	return cmd
}
