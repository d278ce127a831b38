package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/pace"
)

// newRoot is the command with all its subcommands. host plays what has to be on time.
func newRoot(host *pace.Host) *cobra.Command {
	var r runFlags
	root := &cobra.Command{
		Use:   "hikyaku",
		Short: "A message courier in one binary",
		Long: `hikyaku (飛脚, the relay couriers of old Japan) takes messages from the clients programs already
have, keeps them in a durable journal, picks them by condition, reshapes them and delivers them,
and shows where each millisecond went.

  hikyaku demo                 the main job on loopback, live, with a table of every hop at the end
  hikyaku demo cluster         three nodes whose owner is killed again and again, and what that cost
  hikyaku -c FILE              run the pipelines of a configuration (the same as hikyaku run -c FILE)
  hikyaku serve [-c FILE]      open the doors, and run the pipelines, until Ctrl-C
  hikyaku validate -c FILE     check a configuration without starting anything
  hikyaku doctor [-c FILE]     look at this machine for what would lose messages or let others in`,
		Example: `  hikyaku -c examples/dpkg.yaml < /var/log/dpkg.log
  echo hello | hikyaku publish news --attr user=7
  hikyaku claim news --where "user = 7" --wait 20s`,
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil { // cobra's own look at them is no usage error
				return &usageError{err, seeHelp(cmd)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.config == "" {
				return cmd.Help()
			}
			return runPipelines(cmd.Context(), &r)
		},
	}
	r.register(root)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{err, seeHelp(c)}
	})
	root.SuggestionsMinimumDistance = suggestionDistance
	root.SetHelpCommand(helpCommand())
	root.AddCommand(newRun(), newServe(), newStop(), newReload(), newDemo(), newPublish(), newClaim(), newQueue(),
		newTopic(), newSnapshot(), newPush(), newCampaign(), newFunction(), newStack(), newUser(), newCluster(),
		newValidate(), newSchema(), newGraph(), newDoctor(), newJournal(), newBackup(), newRestore(),
		newTop(), newPast(), newTap(), newTrace(), newSlow(), newHealth(), newAudit(), newBench(host),
		newMacro(host), newSandbox(), newVersion())
	return root
}

// version is the module's version, or the commit of a build from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

// versionOf is version of any program.
func versionOf(info *debug.BuildInfo) string {
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "development"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " (" + s.Value[:12] + ")"
		}
	}
	return v
}
