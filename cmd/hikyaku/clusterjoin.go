package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/cluster"
)

func newClusterJoin(m *members) *cobra.Command {
	return &cobra.Command{
		Use:   "join NODE -c FILE",
		Short: "Let a further node take part",
		Long: `Lets a node take part in the log of a running cluster, or one that has left take part again. FILE is the configuration
that it starts with: its peers: names all nodes, itself among them, with its address. The others need not be started
again: they learn of it by the log. Start it then, or before, with an empty data_dir/cluster: it gets the log and then a
vote. Until it has come nothing depends on it. It may be given again.`,
		Example: "  hikyaku cluster join d -c d.yaml",
		Args:    oneArg("the NODE that shall take part"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.open(); err != nil {
				return err
			}
			node := args[0]
			address, named := m.file.Cluster.Peers[node]
			if !named {
				return &usageError{fmt.Errorf("peers: in %s does not name node %q", m.config, node),
					"-c takes the configuration that the node starts with: its peers: names all nodes, itself among them"}
			}
			s, err := m.atOwner(cmd.Context(), cluster.Request{Ask: cluster.AskJoin, Node: node, Address: address})
			if err != nil {
				return err
			}
			told := fmt.Sprintf("node %s may take part: start it, if it does not run, with an empty data_dir/cluster; "+
				"hikyaku cluster status tells when it has the log and a vote", node)
			for _, v := range s.Members {
				switch {
				case v.Node == node && v.Part == cluster.Votes:
					told = fmt.Sprintf("node %s takes part, and has a vote", node)
				case v.Node == node && v.Part == cluster.Learns:
					told = fmt.Sprintf("node %s takes part, and gets the log", node)
				}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), told)
			return err
		},
	}
}

func newClusterLeave(m *members) *cobra.Command {
	return &cobra.Command{
		Use:   "leave NODE -c FILE",
		Short: "Take a node out of the cluster for good",
		Long: `Takes a node out of a running cluster, whether it is there or dead. It gives the shard away if it owns it, has the log no
more, and ends. It is refused unless most of the others are there and have the whole log. It may be given again. A node
that shall come back is stopped, not taken out (hikyaku cluster drain, hikyaku stop).`,
		Example: "  hikyaku cluster leave c -c a.yaml",
		Args:    oneArg("the NODE that shall leave"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.open(); err != nil {
				return err
			}
			s, err := m.atOwner(cmd.Context(), cluster.Request{Ask: cluster.AskLeave, Node: args[0]})
			if err != nil {
				return err
			}
			votes := 0
			for _, v := range s.Members {
				if v.Part == cluster.Votes {
					votes++
				}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "node %s has left; nodes with a vote: %d, which go on without %d of "+
				"them\n", args[0], votes, (votes-1)/2)
			return err
		},
	}
}

// ownerMost is how long a command waits for somebody to own the shard.
const ownerMost = 20 * time.Second

// atOwner asks the owner, whoever it is meanwhile, and returns how it is afterwards.
func (m *members) atOwner(ctx context.Context, what cluster.Request) (cluster.Status, error) {
	late := time.After(ownerMost)
	for {
		owner := m.ask(ctx).Owner.Node
		var err error = &hinted{errors.New("nobody owns the shard"),
			"hikyaku cluster status tells who is away: most of the nodes with a vote have to be there"}
		if owner != "" {
			var s cluster.Status
			s, err = cluster.Ask(ctx, m.dialer, m.peer(owner), what)
			if !errors.Is(err, cluster.ErrNotOwner) {
				return s, err
			}
		}
		select {
		case <-late:
			return cluster.Status{}, err
		case <-ctx.Done():
			return cluster.Status{}, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// part says of a node what it is in the cluster, if it is not one of those that have a vote.
func (s *clusterStatus) part(node string) string {
	group := s.group()
	i := slices.IndexFunc(group, func(v cluster.MemberView) bool { return v.Node == node })
	switch {
	case group == nil:
		return ""
	case i < 0:
		return ", not in the cluster"
	case group[i].Part == cluster.Learns:
		return ", no vote yet"
	case group[i].Part == cluster.Waits:
		return ", not taken in yet"
	}
	return ""
}

// differences tells which nodes have configurations that name other nodes than there are, and what to change.
func (s *clusterStatus) differences() (all []string) {
	at := map[string]string{}
	for _, v := range s.group() {
		at[v.Node] = v.Address
	}
	if len(at) == 0 {
		return nil
	}
	for _, n := range s.Nodes {
		if n.Status == nil || n.Status.Peers == nil {
			continue
		}
		var changes []string
		peers := n.Status.Peers
		for _, name := range slices.Sorted(maps.Keys(at)) {
			if peers[name] != at[name] {
				changes = append(changes, fmt.Sprintf("has to name %s at %s", name, at[name]))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(peers)) {
			if _, there := at[name]; !there {
				changes = append(changes, fmt.Sprintf("has to name %s no more", name))
			}
		}
		if len(changes) > 0 {
			all = append(all, fmt.Sprintf("peers: in the configuration of node %s %s; SIGHUP has the node read it again",
				n.Node, strings.Join(changes, ", ")))
		}
	}
	return all
}
