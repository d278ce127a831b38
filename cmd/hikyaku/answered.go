package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// answered is how an act tells what it did: a line for people, or what the door answered as a line of JSON.
type answered struct{ asJSON bool }

func (s *answered) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "print JSON")
}

// tell prints the answer, or the line without its end.
func (s *answered) tell(cmd *cobra.Command, answer any, format string, args ...any) error {
	if s.asJSON {
		return printJSON(cmd.OutOrStdout(), answer)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...)
	return err
}
