package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	lambdadoor "github.com/hikyaku/hikyaku/internal/api/lambda"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// lambdaRemote is how the commands over functions reach the Lambda door of a running hikyaku.
type lambdaRemote struct {
	remote
	user string
}

func (r *lambdaRemote) register(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&r.url, "url", "", "the `ADDRESS` of a running hikyaku's Lambda door (or "+
		"HIKYAKU_LAMBDA_URL; default http://"+lambdadoor.DefaultListen+")")
	cmd.PersistentFlags().StringVar(&r.ca, "ca-file", "", "trust the certificates in this PEM `FILE` too: for a door "+
		"with one that it signed itself")
	cmd.PersistentFlags().StringVar(&r.user, "user", "", "the `NAME` of a user (or HIKYAKU_USER): requests are signed")
	cmd.PersistentFlags().StringVar(&r.secret, "secret-file", "",
		"`FILE` with the user's secret (or HIKYAKU_SECRET in the environment)")
}

// client connects nothing yet.
func (r *lambdaRemote) client() (*lambdadoor.Client, error) {
	c, err := r.config()
	if err != nil {
		return nil, err
	}
	return lambdadoor.NewClient(c)
}

func (r *lambdaRemote) config() (c lambdadoor.ClientConfig, err error) {
	if r.url == "" {
		r.url = os.Getenv("HIKYAKU_LAMBDA_URL")
	}
	if r.url == "" {
		r.url = "http://" + lambdadoor.DefaultListen
	}
	if err := r.address(); err != nil {
		return c, err
	}
	trust, err := r.trust()
	if err != nil {
		return c, err
	}
	secret, err := r.secretText()
	if err != nil {
		return c, err
	}
	user := r.user
	if user == "" {
		user = os.Getenv("HIKYAKU_USER")
	}
	if user != "" && secret == "" {
		return c, &usageError{errors.New("there is a user and no secret"),
			"put it into HIKYAKU_SECRET or name a --secret-file"}
	}
	return lambdadoor.ClientConfig{URL: r.url, User: user, Secret: secret, TLS: trust}, nil
}

// reached adds advice to an error about a function that is not there, too.
func (r *lambdaRemote) reached(err error) error {
	if refused := (*lambdadoor.Error)(nil); errors.As(err, &refused) && refused.Name == "ResourceNotFoundException" {
		return &hinted{err, "hikyaku function ls lists the functions that there are"}
	}
	return r.remote.reached(err)
}

func newFunction() *cobra.Command {
	var r lambdaRemote
	cmd := &cobra.Command{
		Use:   "function",
		Short: "Deploy and invoke functions, see their instances and logs",
		Long:  "Commands over the functions of a running hikyaku (hikyaku serve), by its Lambda door.",
	}
	r.register(cmd)
	return group(cmd, newFunctionLs(&r), newFunctionInvoke(&r), newFunctionLogs(&r), newFunctionDeploy(&r),
		newFunctionRm(&r))
}

func newFunctionLs(r *lambdaRemote) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List functions and their instances",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			all, err := c.Functions(cmd.Context())
			if err != nil {
				return r.reached(err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), all.Functions)
			}
			if err := listFunctions(cmd.OutOrStdout(), all.Functions); err != nil || len(all.NotIsolated) == 0 {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Functions are not isolated. Missing: %s.\n",
				strings.Join(all.NotIsolated, "; "))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listFunctions prints a line for each function and one for each of its instances.
func listFunctions(w io.Writer, all []lambdadoor.FunctionAnswer) error {
	t := measure.NewTable(measure.Column{Name: "function"}, measure.Column{Name: "instance"},
		measure.Column{Name: "state"}, measure.Column{Name: "age", Align: measure.Right},
		measure.Column{Name: "invokes", Align: measure.Right}, measure.Column{Name: "errors", Align: measure.Right},
		measure.Column{Name: "cold starts", Align: measure.Right},
		measure.Column{Name: "init", Align: measure.Right}, measure.Column{Name: "memory", Align: measure.Right},
		measure.Column{Name: "of", Align: measure.Right})
	unlimited, unbounded := false, false
	for i := range all {
		f := &all[i]
		name := f.Name
		if f.Version != "$LATEST" {
			name += ":" + f.Version
		}
		t.Row(name, f.Runtime, fmt.Sprintf("%d running", f.Running), "", fmt.Sprint(f.Invokes), fmt.Sprint(f.Errors),
			fmt.Sprint(f.ColdStarts), "", "", fmt.Sprintf("%d MB", f.MemoryMB))
		for _, x := range f.Instances {
			peak := "?"
			if x.PeakMB > 0 {
				peak = fmt.Sprintf("%d MB", x.PeakMB)
			}
			if !x.Limited {
				unlimited = true
			}
			if !x.Bounded {
				unbounded = true
			}
			age := (time.Duration(x.AgeMS) * time.Millisecond).Round(time.Second).String()
			t.Row("", shortID(x.ID), x.State, age, fmt.Sprint(x.Invokes), "", "", fmt.Sprintf("%.1f ms", x.InitMS),
				peak, "")
		}
	}
	if err := t.WriteText(w); err != nil {
		return err
	}
	for i := range all {
		if all[i].Warning != "" {
			if _, err := fmt.Fprintf(w, "%s: %s.\n", all[i].Name, all[i].Warning); err != nil {
				return err
			}
		}
		if all[i].Damage != "" {
			if _, err := fmt.Fprintf(w, "%s:%s: %s.\n", all[i].Name, all[i].Version, all[i].Damage); err != nil {
				return err
			}
		}
	}
	if unlimited {
		if _, err := fmt.Fprintln(w,
			"Memory is measured, and not limited: no control group can be written here."); err != nil {
			return err
		}
	}
	if unbounded {
		_, err := fmt.Fprintln(w, "Temporary files are measured, and not bounded, and layers are not at /opt: "+
			"nothing can be mounted here.")
		return err
	}
	return nil
}

func shortID(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	return id
}

func newFunctionInvoke(r *lambdaRemote) *cobra.Command {
	var payload string
	var event, tail bool
	cmd := &cobra.Command{
		Use:   "invoke NAME[:VERSION]",
		Short: "Invoke a function and print its answer",
		Long: `Invokes a function and prints its answer. The event is --payload: JSON, @FILE, or - for the standard input.
An error of the function is printed as well, and the status is 1.`,
		Example: `  hikyaku function invoke hello --payload '{"name": "world"}'`,
		Args:    oneArg("the NAME of a function"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := []byte(payload)
			var err error
			switch {
			case payload == "-":
				text, err = io.ReadAll(cmd.InOrStdin())
			case strings.HasPrefix(payload, "@"):
				text, err = os.ReadFile(payload[1:])
			}
			if err != nil {
				return fmt.Errorf("read the event: %w", err)
			}
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			kind := "RequestResponse"
			if event {
				kind = "Event"
			}
			got, err := c.Invoke(cmd.Context(), args[0], kind, text, tail)
			if err != nil {
				return r.reached(err)
			}
			if log, err := base64.StdEncoding.DecodeString(got.Log); err == nil && len(log) > 0 {
				if _, err := cmd.ErrOrStderr().Write(log); err != nil {
					return err
				}
			}
			if len(got.Payload) > 0 {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", got.Payload); err != nil {
					return err
				}
			}
			if got.Error != "" {
				return &hinted{fmt.Errorf("function %s failed (%s)", args[0], kindOf(&got)),
					cmp.Or(got.Advice, "hikyaku function logs "+args[0]+" tells more")}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&payload, "payload", "{}", "the event: `JSON`, @FILE, or - for the standard input")
	cmd.Flags().BoolVar(&event, "event", false, "wait only until the event is durable")
	cmd.Flags().BoolVar(&tail, "tail", false, "print the end of the log on the standard error")
	return cmd
}

// kindOf is what kind of error a function has failed with.
func kindOf(got *lambdadoor.Invoked) string {
	var said struct {
		Kind string `json:"errorType"`
	}
	if json.Unmarshal(got.Payload, &said) != nil || said.Kind == "" {
		return got.Error
	}
	return said.Kind
}

func newFunctionLogs(r *lambdaRemote) *cobra.Command {
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use:   "logs NAME[:VERSION]",
		Short: "Print what a function has printed, with START, END and REPORT",
		Args:  oneArg("the NAME of a function"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			err = c.Log(cmd.Context(), args[0], lines, follow, func(l lambdadoor.LineAnswer) error {
				if l.Missed > 0 {
					if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "(%d lines came too fast to be kept)\n",
						l.Missed); err != nil {
						return err
					}
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", l.Time.Local().Format("15:04:05.000"), l.Text)
				return err
			})
			if cmd.Context().Err() != nil { // Ctrl-C is how one stops to follow
				return nil
			}
			return r.reached(err)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes, until Ctrl-C")
	cmd.Flags().IntVarP(&lines, "lines", "n", 100, "how many of the newest `LINES` to begin with")
	return cmd
}

func newFunctionRm(r *lambdaRemote) *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME",
		Short: "Delete a function, with its versions and the events that wait for it",
		Args:  oneArg("the NAME of a function"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			return r.reached(c.JSON(cmd.Context(), "DELETE", "/2015-03-31/functions/"+args[0], nil, nil))
		},
	}
}
