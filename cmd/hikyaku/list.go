package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// newLs is a command ls: it asks for what is there in a namespace, and shows it as a table or as JSON.
func newLs[T any](r *remote, short string, ask func(*httpdoor.Client, context.Context, string) (T, error),
	show func(io.Writer, T) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls [NAMESPACE]",
		Short: short,
		Args:  optionalNamespace,
		RunE: func(cmd *cobra.Command, args []string) error {
			namespace, err := namespaceOf(args)
			if err != nil {
				return err
			}
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			found, err := ask(c, cmd.Context(), namespace)
			if err != nil {
				return r.reached(err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), found)
			}
			return show(cmd.OutOrStdout(), found)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// optionalNamespace takes a namespace or nothing.
func optionalNamespace(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return oneArg("a NAMESPACE")(cmd, args)
}

// namespaceOf is the namespace of a list: the one on the command line, or the default one.
func namespaceOf(args []string) (string, error) {
	if len(args) == 0 {
		return queue.DefaultNamespace, nil
	}
	if strings.Contains(args[0], "/") {
		return "", &usageError{fmt.Errorf("%q is no namespace", args[0]), "a namespace is the part of a name before " +
			"the slash; `show NAME` is for one queue or topic"}
	}
	return args[0], nil
}
