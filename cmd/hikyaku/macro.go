package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hikyaku/hikyaku/internal/macro"
	pad "github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

func newMacro(host *pace.Host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "macro",
		Short: "Play macros on a game pad, to the frame",
		Long: `A macro says what is pressed and for how many frames, a line each:

  9 34        up and to the right for 34 frames
  hp 20       heavy punch
  2,mk 8      down and medium kick together
  236p 2      a motion: 2, 3 and 6 for 2 frames each, a punch with the last one

It is read as a whole before anything is pressed, and all of its mistakes are told at once. docs/macro.md tells the rest.`,
		Example: `  hikyaku macro play examples/combo.txt --device trace:combo.trace
  hikyaku macro serve --device uinput`,
	}
	return group(cmd, newMacroPlay(host), newMacroServe(host), newMacroCheck(), newMacroFormat(), newMacroConvert(),
		newMacroRecord(), newMacroPass(host),
		newMacroCalibrate(host))
}

// macroFlags are what several of the commands take.
type macroFlags struct {
	devices []string
	rate    string
	player  int
	mirror  bool
}

func (m *macroFlags) registerMeaning(cmd *cobra.Command) {
	cmd.Flags().IntVar(&m.player, "player", 1, "whose lines those are that stand in no player's block, `1 or 2`")
	cmd.Flags().BoolVar(&m.mirror, "mirror", false, "change left and right, for someone who faces left")
}

func (m *macroFlags) registerDevice(cmd *cobra.Command) {
	usage := "what is played on, `NAME` or NAME:WHERE; once more for player 2, if that is another one:"
	for _, d := range play.Drivers() {
		name := d.Name
		if d.Target {
			name += ":FILE"
		}
		usage += "\n  " + name + ": " + d.Summary
	}
	cmd.Flags().StringArrayVar(&m.devices, "device", nil, usage)
	cmd.Flags().StringVar(&m.rate, "rate", pace.NTSC().String(), "frames a second, `RATE`: 60000/1001, 50, 59.94/s")
}

// options are those of the flags.
func (m *macroFlags) options(host *pace.Host) (o pad.Options, err error) {
	o = pad.Options{Host: host, Devices: m.devices, Out: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	if o.Macro, err = m.meaning(); err != nil {
		return o, err
	}
	if o.Rate, err = pad.ParseRate(m.rate); err != nil {
		return o, &usageError{fmt.Errorf("--rate: %w", err), "write --rate 60000/1001 or --rate 50"}
	}
	if len(m.devices) == 0 {
		return o, &usageError{errors.New("it is not said what is played on"), "write --device uinput, or --device " +
			"trace:FILE to see what would be pressed"}
	}
	if err := play.Check(m.devices); err != nil {
		return o, &usageError{fmt.Errorf("--device: %w", err), "see hikyaku macro play --help"}
	}
	return o, nil
}

func (m *macroFlags) meaning() (macro.Options, error) {
	if m.player < 1 || m.player > macro.Players {
		return macro.Options{},
			&usageError{fmt.Errorf("--player %d: there are players 1 and %d", m.player, macro.Players),
				"write --player 2"}
	}
	return macro.Options{Player: m.player, Mirror: m.mirror}, nil
}

// mistaken gives mistakes of a macro the form that mistakes of a configuration have, and leaves other errors alone.
func mistaken(err error) error {
	if errors.Is(err, pad.ErrStopped) {
		return &hinted{err, "play it again from its beginning"}
	}
	return err
}

func newMacroPlay(host *pace.Host) *cobra.Command {
	var m macroFlags
	var at string
	var lead time.Duration
	cmd := &cobra.Command{
		Use:   "play FILE",
		Short: "Play a macro; Ctrl-C lets go of everything",
		Long: `Plays the macro of a file (- is the standard input), and says at the end how late its frames were.

Ctrl-C, and anything that goes wrong, lets go of all buttons, if the device can still be reached; the exit status is 1 then.`,
		Example: `  hikyaku macro play examples/combo.txt --device uinput
  hikyaku macro play examples/combo.txt --device trace:combo.trace --mirror
  echo 'lp 2' | hikyaku macro play - --device titanone-hid`,
		Args: oneArg("the FILE of a macro"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := m.options(host)
			if err != nil {
				return err
			}
			o.Lead = lead
			if o.At, err = pad.ParseMoment(at, lead, time.Now()); err != nil {
				return &usageError{fmt.Errorf("--at, --lead: %w", err), "write --at 20:15:00 --lead 7ms"}
			}
			text, err := pad.ReadFile(args[0], os.Stdin)
			if err != nil {
				return err
			}
			return mistaken(pad.Play(cmd.Context(), args[0], text, o))
		},
	}
	m.registerDevice(cmd)
	m.registerMeaning(cmd)
	cmd.Flags().StringVar(&at, "at", "", "the `MOMENT` at which the macro is to have its effect: 20:15:00, or as RFC "+
		"3339 has it")
	cmd.Flags().DurationVar(&lead, "lead", 0, "by how much earlier it is written, as calibrate measures it")
	return cmd
}

func newMacroServe(host *pace.Host) *cobra.Command {
	var m macroFlags
	var p pad.Page
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a page to write and play macros on",
		Long: `Serves a web page, for a desktop or a phone: a box for a macro with its mistakes marked, a picture of what it does, buttons to run and stop it, a pad for each player,
and the lateness of each run. It listens on loopback unless told otherwise: who reaches it presses buttons.`,
		Example: `  hikyaku macro serve --device uinput
  hikyaku macro serve --device titanone-hid --listen 0.0.0.0:8080 --host pad.local`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := m.options(host)
			if err != nil {
				return err
			}
			if p.Text == "" {
				p.Text = pad.Welcome
			} else {
				text, err := pad.ReadFile(p.Text, os.Stdin)
				if err != nil {
					return err
				}
				p.Text = string(text)
			}
			return pad.Serve(cmd.Context(), p, o)
		},
	}
	m.registerDevice(cmd)
	cmd.Flags().StringVar(&p.Listen, "listen", pad.DefaultListen, "`ADDRESS` to listen on")
	cmd.Flags().StringArrayVar(&p.Hosts, "host", nil, "a `NAME` that browsers may call this machine by; addresses "+
		"and localhost they always may")
	cmd.Flags().StringVar(&p.Text, "text", "", "a `FILE` with the macro that stands in the box at first")
	m.player = 1
	return cmd
}

func newMacroCheck() *cobra.Command {
	var m macroFlags
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Look for mistakes in macros without playing them",
		Args:  someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			meaning, err := m.meaning()
			if err != nil {
				return err
			}
			var all []error
			for _, name := range args {
				text, err := pad.ReadFile(name, os.Stdin)
				if err == nil {
					var script *macro.Script
					if script, err = pad.Compile(name, text, meaning); err == nil {
						fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", name, count(script.Frames(), "frame"))
					}
				}
				all = append(all, err)
			}
			return errors.Join(all...)
		},
	}
	m.registerMeaning(cmd)
	return cmd
}

// someFiles wants one argument or more.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return &usageError{fmt.Errorf("%s needs the FILE of a macro", cmd.CommandPath()), seeHelp(cmd)}
	}
	return nil
}

func newMacroFormat() *cobra.Command {
	var f pad.Format
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Write macros in the form that all have",
		Long: `Writes macros in one form: small letters, one space before the frames, blocks indented. It means what it meant. Without a flag the result goes to the standard output;
- is the standard input.`,
		Example: `  hikyaku macro fmt -w combo.txt
  hikyaku macro fmt --list *.txt`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.In, f.Out = os.Stdin, cmd.OutOrStdout()
			return f.Run(args)
		},
	}
	cmd.Flags().BoolVarP(&f.Write, "write", "w", false, "write files instead of the standard output")
	cmd.Flags().BoolVarP(&f.List, "list", "l", false, "list the files that would change; the exit status is 1 if "+
		"there are any")
	return cmd
}

func newMacroConvert() *cobra.Command {
	var c pad.Convert
	var rate string
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Make a macro of one in a script of another program",
		Long: `Writes a combo of a GPC script (Titan One, Titan Two, CronusMAX), or a macro of GIMX, as a macro to the standard output; - is the standard input. Its milliseconds
become frames. What a macro cannot say is refused, with its place: a macro is a fixed list of what is pressed, and for how long.

What a key or a button is on the pad stands in GIMX's configuration and not in its macro: --map says it, with JBUTTON3 and JAXIS0 for a joystick's.`,
		Example: `  hikyaku macro convert script.gpc --combo fireball > fireball.txt
  hikyaku macro convert rapid.txt --from gimx --combo "KEYDOWN a" --map p=lp --map JAXIS0=lx`,
		Args: oneArg("the FILE of a script"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.Rate, err = pad.ParseRate(rate); err != nil {
				return &usageError{fmt.Errorf("--rate: %w", err), "write --rate 60000/1001 or --rate 50"}
			}
			script, err := pad.ReadFile(args[0], os.Stdin)
			if err != nil {
				return err
			}
			text, err := c.Run(args[0], script)
			switch {
			case errors.Is(err, pad.ErrForm):
				return &usageError{fmt.Errorf("--from: %w", err), "write --from gpc, or --from gimx --map p=lp"}
			case errors.Is(err, pad.ErrMap):
				return &usageError{fmt.Errorf("--map: %w", err), "write --map p=lp"}
			case err != nil:
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&c.From, "from", "gpc", "the `FORM` of the script: gpc or gimx")
	cmd.Flags().StringVar(&c.Name, "combo", "", "the `NAME` of the combo, or the event that begins GIMX's macro; it may "+
		"be left out if there is one")
	cmd.Flags().StringArrayVar(&c.Map, "map", nil, "what a key, a button or an axis of GIMX is on the pad, `KEY=INPUT`")
	cmd.Flags().StringVar(&rate, "rate", pace.NTSC().String(), "frames a second, `RATE`: 60000/1001, 50, 59.94/s")
	return cmd
}

func newMacroCalibrate(host *pace.Host) *cobra.Command {
	var m macroFlags
	rounds := 0
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure how long a device takes for what is written to it",
		Long: `Presses and lets go of a button, frame after frame, and asks the device each time until it has it: uinput by its events, titanone-hid by the reports that it sends, titanone by its
library. It says how long that took, how much that wobbles, and what lead makes up for it. Of a device that cannot be asked, or tells nothing, only the writes are measured.
Do not let a game run meanwhile.`,
		Example: `  hikyaku macro calibrate --device titanone-hid
  hikyaku macro calibrate --device uinput --rounds 50`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := m.options(host)
			if err != nil {
				return err
			}
			if rounds < 0 || rounds > pad.MostRounds {
				return &usageError{fmt.Errorf("--rounds %d is not from 1 to %d", rounds, pad.MostRounds),
					"write --rounds 300"}
			}
			return mistaken(pad.Calibrate(cmd.Context(), rounds, o))
		},
	}
	m.registerDevice(cmd)
	m.player = 1
	cmd.Flags().IntVar(&rounds, "rounds", 0, "how `OFTEN` the button is pressed; 0: 300 times")
	return cmd
}
