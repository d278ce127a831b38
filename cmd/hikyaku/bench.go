package main

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hikyaku/hikyaku/internal/bench"
)

func newBench() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure hikyaku on this machine, beside what the machine itself can do",
		Long: `Each bench measures ours and the machine's limit in turns within one run, so that a figure means something on a
noisy machine: look at the ratios, not at absolute numbers.`,
	}
	for _, b := range bench.All() {
		cmd.AddCommand(newOneBench(b))
	}
	return group(cmd)
}

func newOneBench(b bench.Bench) *cobra.Command {
	o := bench.Options{Progress: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	cmd := &cobra.Command{
		Use:   b.Name,
		Short: b.Summary,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return b.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "a few seconds: to see that it works, not to believe the figures")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object instead of a table")
	cmd.Flags().StringVar(&o.Plots, "plots", "", "write SVG pictures into this `FOLDER`")
	cmd.Flags().StringVar(&o.Dir, "dir", "", "make temporary files in this `FOLDER`: on the disk to be measured")
	return cmd
}
