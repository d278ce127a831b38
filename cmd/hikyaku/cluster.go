package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/nearest"
)

func newCluster() *cobra.Command {
	var m members
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Look at the nodes of a cluster, move its shard, take nodes in and out",
		Long: `Commands over the nodes of a running cluster (docs/cluster.md). They reach the nodes at the addresses of a
configuration's cluster: peers:, with its secret; the configuration of any node will do.`,
	}
	cmd.PersistentFlags().StringVarP(&m.config, "config", "c", "", "configuration `FILE` (.yaml, .toml or .json) with "+
		"a cluster:")
	return group(cmd, newClusterStatus(&m), newClusterMove(&m), newClusterDrain(&m), newClusterFill(&m),
		newClusterJoin(&m), newClusterLeave(&m))
}

// members are the nodes that a configuration names, and those that they know besides.
type members struct {
	config string
	file   *config.File
	at     map[string]string // where each is reached
	dialer *link.Dialer
}

// open reads the configuration.
func (m *members) open() error {
	if m.config == "" {
		return &usageError{errors.New("which cluster?"), "name the configuration of one of its nodes with -c FILE"}
	}
	f, err := loadConfig(m.config, os.Stderr)
	if err != nil {
		return err
	}
	c := &f.Cluster
	if !c.On() {
		return &hinted{fmt.Errorf("the configuration %s is of no cluster", m.config),
			"-c takes the configuration of one of the nodes, with cluster: peers:"}
	}
	m.file, m.at = f, maps.Clone(c.Peers)
	m.dialer, err = link.NewDialer(link.Options{Cluster: c.Name, Secret: c.Secret.Reveal()})
	return err
}

func (m *members) names() []string { return slices.Sorted(maps.Keys(m.at)) }

func (m *members) peer(name string) link.Peer {
	return link.Peer{Node: name, Address: m.at[name]}
}

// known refuses a name that no node has.
func (m *members) known(ctx context.Context, name string) error {
	if _, is := m.at[name]; !is {
		m.ask(ctx)
	}
	if _, is := m.at[name]; is {
		return nil
	}
	hint := "its nodes are " + strings.Join(m.names(), ", ")
	if meant := nearest.Name(name, m.names()); meant != "" {
		hint = fmt.Sprintf("did you mean %s? %s", meant, hint)
	}
	return &usageError{fmt.Errorf("the cluster has no node %q", name), hint}
}

// memberStatus is what is known of a node.
type memberStatus struct {
	Node    string          `json:"node"`
	Address string          `json:"address"`
	Away    string          `json:"away,omitempty"` // why it does not answer
	Status  *cluster.Status `json:"status,omitempty"`
}

// clusterStatus is what the nodes that answer say.
type clusterStatus struct {
	Owner    cluster.Owner  `json:"owner"` // of the greatest term that anybody knows
	Nodes    []memberStatus `json:"nodes"`
	Warnings []string       `json:"warnings,omitempty"` // of configurations that name other nodes than there are
}

// ask asks all nodes that the configuration names, and then those that they know besides.
func (m *members) ask(ctx context.Context) clusterStatus {
	all := clusterStatus{Nodes: m.askEach(ctx, m.names())}
	var more []string
	for _, n := range all.Nodes {
		if n.Status == nil {
			continue
		}
		for _, v := range n.Status.Members {
			if _, is := m.at[v.Node]; !is {
				m.at[v.Node] = v.Address
				more = append(more, v.Node)
			}
		}
	}
	all.Nodes = append(all.Nodes, m.askEach(ctx, more)...)
	slices.SortFunc(all.Nodes, func(a, b memberStatus) int { return strings.Compare(a.Node, b.Node) })
	all.Owner = ownerOf(all.Nodes)
	all.Warnings = all.differences()
	return all
}

// askEach asks nodes at once.
func (m *members) askEach(ctx context.Context, names []string) []memberStatus {
	all := make([]memberStatus, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() {
			p := m.peer(name)
			one := memberStatus{Node: p.Node, Address: p.Address}
			if s, err := cluster.Ask(ctx, m.dialer, p, cluster.Request{Ask: cluster.AskStatus}); err != nil {
				one.Away = err.Error()
			} else {
				one.Status = &s
			}
			all[i] = one
		})
	}
	asking.Wait()
	return all
}

// ownerOf is the owner of the greatest term that anybody knows. Since when it owns the shard it knows best itself:
// other nodes may have been started after that.
func ownerOf(nodes []memberStatus) (owner cluster.Owner) {
	for _, n := range nodes {
		if n.Status == nil {
			continue
		}
		if o := n.Status.Owner; o.Term > owner.Term || o.Term == owner.Term && (owner.Node == "" || o.Node == n.Node) {
			owner = o
		}
	}
	return owner
}

// lag is how far a node is behind, as its owner says.
func (s *clusterStatus) lag(node string) (lag uint64, known bool) {
	for _, m := range s.group() {
		if m.Node == node && m.Known {
			return m.Lag, true
		}
	}
	return 0, false
}

// group is what the owner says of the nodes; nil: it does not answer.
func (s *clusterStatus) group() []cluster.MemberView {
	for _, n := range s.Nodes {
		if n.Status != nil && n.Node == s.Owner.Node {
			return n.Status.Members
		}
	}
	return nil
}

func newClusterStatus(m *members) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status -c FILE",
		Short: "Show the nodes, who owns the shard, and how far the others are",
		Long: `Asks every node. "away" does not answer; whether the owner hears of it is another question, and its own column. The
lag is how many groups of the log a node does not have yet, as the owner knows it.`,
		Example: "  hikyaku cluster status -c a.yaml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.open(); err != nil {
				return err
			}
			all := m.ask(cmd.Context())
			if asJSON {
				return printJSON(cmd.OutOrStdout(), all)
			}
			return all.write(cmd.OutOrStdout(), time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// write shows it as a table, and what keeps nodes away below.
func (s *clusterStatus) write(w io.Writer, now time.Time) error {
	t := measure.NewTable(measure.Column{Name: "node"}, measure.Column{Name: "address"}, measure.Column{Name: "state"},
		measure.Column{Name: "term", Align: measure.Right}, measure.Column{Name: "lag", Align: measure.Right},
		measure.Column{Name: "hears of"})
	for _, n := range s.Nodes {
		state, term, hears, lag := "away", "", "", ""
		if behind, known := s.lag(n.Node); known {
			lag = measure.Count(int64(min(behind, 1<<62)))
		}
		if n.Status != nil {
			state, term, hears = s.state(n.Status), measure.Count(int64(n.Status.Owner.Term)), hearsOf(n.Status)
		}
		t.Row(n.Node, n.Address, state+s.part(n.Node), term, lag, hears)
	}
	if err := t.WriteText(w); err != nil {
		return err
	}
	owner := "nobody owns the shard"
	if !slices.ContainsFunc(s.Nodes, func(n memberStatus) bool { return n.Status != nil }) {
		owner = "no node answers: who owns the shard is not known"
	}
	if s.Owner.Node != "" {
		owner = fmt.Sprintf("node %s owns the shard", s.Owner.Node)
		if !s.Owner.Since.IsZero() {
			owner += ", for " + measure.Duration(max(0, now.Sub(s.Owner.Since)))
		}
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", owner); err != nil {
		return err
	}
	for _, n := range s.Nodes {
		said := n.Away
		switch {
		case n.Status == nil:
		case n.Status.Waits != "":
			said = fmt.Sprintf("node %s has no log yet: %s", n.Node, n.Status.Waits)
		case n.Status.Disk != "":
			said = fmt.Sprintf("the disk of node %s: %s", n.Node, n.Status.Disk)
		}
		if said == "" {
			continue
		}
		if _, err := fmt.Fprintln(w, said); err != nil {
			return err
		}
	}
	for _, text := range s.Warnings {
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

func (s *clusterStatus) state(of *cluster.Status) string {
	state := "follows"
	switch {
	case of.Waits != "":
		return "waits for the others"
	case of.Owner.Node == of.Node && of.Owner.Term == s.Owner.Term:
		state = "owner"
	case of.Owner.Node == "":
		state = "knows no owner"
	}
	if of.Draining {
		state += ", drained"
	}
	if of.Disk != "" {
		state += ", waits for its disk"
	}
	return state
}

// hearsOf are the other nodes that one hears of.
func hearsOf(s *cluster.Status) string {
	var names []string
	for _, m := range s.Members {
		if m.Alive && m.Node != s.Node {
			names = append(names, m.Node)
		}
	}
	return strings.Join(names, " ")
}

func newClusterMove(m *members) *cobra.Command {
	return &cobra.Command{
		Use:   "move NODE -c FILE",
		Short: "Give the shard to a node",
		Long: `Has the owner give the shard to another node, and waits until that has it. Connections are cut and clients connect again,
which takes about a second; nothing that was acknowledged is lost, and what was claimed and not settled comes back.`,
		Example: "  hikyaku cluster move b -c a.yaml",
		Args:    oneArg("the NODE that shall own the shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.open(); err != nil {
				return err
			}
			if err := m.known(cmd.Context(), args[0]); err != nil {
				return err
			}
			owner := m.ask(cmd.Context()).Owner
			switch owner.Node {
			case "":
				return &hinted{errors.New("nobody owns the shard"), "hikyaku cluster status tells who is away"}
			case args[0]:
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "node %s owns the shard already\n", args[0])
				return err
			}
			s, err := cluster.Ask(cmd.Context(), m.dialer, m.peer(owner.Node), cluster.Request{Ask: cluster.AskMove,
				Node: args[0]})
			if err != nil {
				return err
			}
			if s.Owner.Node != args[0] {
				return &hinted{fmt.Errorf("node %s has given the shard away, and not to node %s: %s has it", owner.Node,
					args[0], cmp.Or(s.Owner.Node, "nobody")), "hikyaku cluster status tells who is there"}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "node %s owns the shard, in term %d\n", s.Owner.Node, s.Owner.Term)
			return err
		},
	}
}

func newClusterDrain(m *members) *cobra.Command {
	return newClusterAsk(m, &cobra.Command{
		Use:   "drain NODE -c FILE",
		Short: "Have a node give the shard away and not take it again",
		Long: `Before a node is stopped for long, or while its machine is worked on: it goes on keeping the log, and counts where a
majority is needed. It lasts until cluster fill, or until the node starts again.`,
		Example: "  hikyaku cluster drain b -c a.yaml",
	}, cluster.AskDrain, "node %s does not take the shard any more\n")
}

func newClusterFill(m *members) *cobra.Command {
	return newClusterAsk(m, &cobra.Command{
		Use:     "fill NODE -c FILE",
		Short:   "Have a node take the shard again that was drained",
		Example: "  hikyaku cluster fill b -c a.yaml",
	}, cluster.AskFill, "node %s may own the shard again\n")
}

// newClusterAsk makes a command of one that asks a node.
func newClusterAsk(m *members, cmd *cobra.Command, what, done string) *cobra.Command {
	cmd.Args = oneArg("the NODE")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := m.open(); err != nil {
			return err
		}
		if err := m.known(cmd.Context(), args[0]); err != nil {
			return err
		}
		if _, err := cluster.Ask(cmd.Context(), m.dialer, m.peer(args[0]), cluster.Request{Ask: what}); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), done, args[0])
		return err
	}
	return cmd
}
