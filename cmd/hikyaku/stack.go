package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	lambdadoor "github.com/hikyaku/hikyaku/internal/api/lambda"
	sqsdoor "github.com/hikyaku/hikyaku/internal/api/sqs"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/stack"
	"github.com/hikyaku/hikyaku/internal/stack/template"
)

// stackRemote is how the commands over stacks reach the Lambda and SQS doors.
type stackRemote struct {
	lambdaRemote
	sqs    string
	region string
}

func newStack() *cobra.Command {
	var r stackRemote
	cmd := &cobra.Command{
		Use:   "stack",
		Short: "Deploy templates of CDK, SAM and Serverless",
		Long: `Carries templates of CloudFormation out over the Lambda and SQS doors of a running hikyaku (hikyaku serve): functions
with their versions, aliases, layers, permissions, URLs and mappings, and queues. What a stack has made is found again
by tags, so there is no file of its state.

  CDK          node app.js (or cdk synth), then  hikyaku stack deploy NAME cdk.out/STACK.template.json
  Serverless   serverless package, then          hikyaku stack deploy NAME \
                                                   .serverless/cloudformation-template-update-stack.json
  SAM          translate it first (aws-sam-translator): docs/functions.md has a program of some lines`,
	}
	r.register(cmd)
	cmd.PersistentFlags().StringVar(&r.sqs, "sqs-url", "", "the `ADDRESS` of its SQS door (or HIKYAKU_SQS_URL; default "+
		"http://"+sqsdoor.DefaultListen+")")
	cmd.PersistentFlags().StringVar(&r.region, "region", "us-east-1", "the `REGION` that ARNs name: that of the "+
		"configuration's api.lambda")
	return group(cmd, newStackDeploy(&r), newStackDiff(&r), newStackRm(&r), newStackLs(&r))
}

// doors connects nothing yet. The second value closes them.
func (r *stackRemote) doors() (d stack.Doors, done func(), err error) {
	c, err := r.config()
	if err != nil {
		return d, nil, err
	}
	d.Queues = cmp.Or(r.sqs, os.Getenv("HIKYAKU_SQS_URL"), "http://"+sqsdoor.DefaultListen)
	if err := withoutSecret(d.Queues, "--sqs-url or HIKYAKU_SQS_URL"); err != nil {
		return d, nil, err
	}
	if d.Lambda, err = lambdadoor.NewClient(c); err != nil {
		return d, nil, err
	}
	c.URL, c.Region, c.Service = d.Queues, r.region, "sqs"
	if d.SQS, err = lambdadoor.NewClient(c); err != nil {
		return d, nil, err
	}
	return d, func() { d.Lambda.Close(); d.SQS.Close() }, nil
}

// reached adds advice to an error about a door that is not there.
func (r *stackRemote) reached(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return &hinted{err, "start one with `hikyaku serve`, or say where its doors are with --url and --sqs-url"}
	}
	return r.remote.reached(err)
}

// stackFlags are those of what reads a template.
type stackFlags struct {
	parameters []string
	assets     string
}

func (f *stackFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.parameters, "parameter", nil, "a parameter of the template, `NAME=VALUE`; more than "+
		"once")
	cmd.Flags().StringVar(&f.assets, "assets", "", "the `FOLDER` with the archives that the template has in S3; not "+
		"named: the template's")
}

// config reads a template.
func (f *stackFlags) config(r *stackRemote, name, path string) (c stack.Config, done func(), err error) {
	if err := stack.CheckName(name); err != nil {
		return c, nil, &usageError{err, "hikyaku stack ls lists the stacks that there are"}
	}
	c = stack.Config{Name: name, Parameters: map[string]string{}, Folder: filepath.Dir(path), Assets: f.assets,
		Region: r.region, Account: "000000000000", Pack: func(path string) ([]byte, error) { return pack(path, true) }}
	if c.Assets == "" {
		c.Assets = c.Folder
	}
	for _, text := range f.parameters {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return c, nil, &usageError{fmt.Errorf("--parameter %s has no value", text), "write it as NAME=VALUE"}
		}
		c.Parameters[key] = value
	}
	file, err := os.Open(path)
	if err != nil {
		return c, nil, fmt.Errorf("the template: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, template.MaxBytes+1))
	if err != nil {
		return c, nil, fmt.Errorf("the template: %w", err)
	}
	if c.Template, err = template.Parse(text); err != nil {
		return c, nil, fmt.Errorf("%s: %w", path, err)
	}
	c.Doors, done, err = r.doors()
	return c, done, err
}

func newStackDeploy(r *stackRemote) *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "deploy NAME TEMPLATE",
		Short: "Make what a template has, change what differs, delete what it has no more",
		Long: `Makes what a template has, changes what differs from the last deployment, and deletes what an earlier template had. A
deployment that fails half way is gone on with by deploying again. Kinds that mean nothing here (roles, log groups,
buckets) are passed over; of any other kind that cannot be made, nothing is made at all.

Code is taken from the template, from the folder of --assets (CDK's manifests of assets are read), or else from S3 by
hikyaku itself.`,
		Example: `  hikyaku stack deploy parcels cdk.out/Parcels.template.json
  hikyaku stack deploy parcels template.yaml --parameter Stage=test`,
		Args: namedArgs("the NAME of a stack", "its TEMPLATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, done, err := f.config(r, args[0], args[1])
			if err != nil {
				return err
			}
			defer done()
			o, err := stack.Deploy(cmd.Context(), c)
			if shown := showOutcome(cmd.OutOrStdout(), o, nil); shown != nil {
				return shown
			}
			switch {
			case errors.Is(err, stack.ErrTransform):
				return &hinted{err, "translate it with aws-sam-translator, as docs/functions.md shows"}
			case err != nil && o.Changes():
				return &hinted{r.reached(err), "the table has what was done; deploy again to go on"}
			case err != nil:
				return r.reached(err)
			}
			if !o.Changes() {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "no changes")
			}
			return err
		},
	}
	f.register(cmd)
	return cmd
}

func newStackDiff(r *stackRemote) *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "diff NAME TEMPLATE",
		Short: "Tell what a deployment would do",
		Args:  namedArgs("the NAME of a stack", "its TEMPLATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, done, err := f.config(r, args[0], args[1])
			if err != nil {
				return err
			}
			defer done()
			o, err := stack.Plan(cmd.Context(), c)
			if errors.Is(err, stack.ErrTransform) {
				return &hinted{err, "translate it with aws-sam-translator, as docs/functions.md shows"}
			}
			if err != nil {
				return r.reached(err)
			}
			o.Outputs = nil
			if err := showOutcome(cmd.OutOrStdout(), o, map[string]string{stack.Made: "make", stack.Changed: "change",
				stack.Deleted: "delete", stack.Kept: "keep"}); err != nil || o.Changes() {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "no changes")
			return err
		},
	}
	f.register(cmd)
	return cmd
}

func newStackRm(r *stackRemote) *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME",
		Short: "Delete what a stack has made, with what waits in its queues",
		Args:  oneArg("the NAME of a stack"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, done, err := r.doors()
			if err != nil {
				return err
			}
			defer done()
			o, err := stack.Remove(cmd.Context(), d, args[0])
			if err == nil && len(o.Steps) == 0 {
				return &hinted{fmt.Errorf("there is no stack %s", args[0]), "hikyaku stack ls lists them"}
			}
			return errors.Join(showOutcome(cmd.OutOrStdout(), o, nil), r.reached(err))
		},
	}
}

func newStackLs(r *stackRemote) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List stacks",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, done, err := r.doors()
			if err != nil {
				return err
			}
			defer done()
			all, err := stack.List(cmd.Context(), d)
			if err != nil {
				return r.reached(err)
			}
			t := measure.NewTable(measure.Column{Name: "stack"},
				measure.Column{Name: "resources", Align: measure.Right})
			for _, s := range all {
				t.Row(s.Name, fmt.Sprint(s.Resources))
			}
			return t.WriteText(cmd.OutOrStdout())
		},
	}
}

// showOutcome prints what was done, or with other words what would be.
func showOutcome(w io.Writer, o *stack.Outcome, words map[string]string) error {
	if len(o.Steps) == 0 {
		return nil
	}
	t := measure.NewTable(measure.Column{Name: "what"}, measure.Column{Name: "kind"}, measure.Column{Name: "resource"},
		measure.Column{Name: "name"})
	for _, s := range o.Steps {
		what := s.What
		if other, ok := words[what]; ok {
			what = other
		}
		t.Row(what, strings.TrimPrefix(s.Kind, "AWS::"), s.Resource, s.Name)
	}
	if err := t.WriteText(w); err != nil {
		return err
	}
	for _, out := range o.Outputs {
		if _, err := fmt.Fprintf(w, "%s = %s\n", out.Name, out.Value); err != nil {
			return err
		}
	}
	return nil
}
