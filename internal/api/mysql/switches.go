package mysql

import (
	"maps"
	"strings"
)

// switchVariable is optimizer_switch. There is nothing to be switched: what was set is shown.
const switchVariable = "optimizer_switch"

// switches are MySQL 8.0's, as they stand by default.
const switches = "index_merge=on,index_merge_union=on,index_merge_sort_union=on,index_merge_intersection=on," +
	"engine_condition_pushdown=on,index_condition_pushdown=on,mrr=on,mrr_cost_based=on,block_nested_loop=on," +
	"batched_key_access=off,materialization=on,semijoin=on,loosescan=on,firstmatch=on,duplicateweedout=on," +
	"subquery_materialization_cost_based=on,use_index_extensions=on,condition_fanout_filter=on,derived_merge=on," +
	"use_invisible_indexes=off,skip_scan=on,hash_join=on,subquery_to_derived=off,prefer_ordering_index=on," +
	"hypergraph_optimizer=off,derived_condition_pushdown=on,hash_set_operations=on"

// switched is the value of optimizer_switch after a change: "mrr=off,semijoin=default", where "default" alone means all
// that the change does not name.
func switched(now, change string) (string, error) {
	usual, changed := switchesOf(switches), map[string]string{}
	set := maps.Clone(usual)
	maps.Copy(set, switchesOf(now))
	for name, to := range eachSwitch(change) {
		switch {
		case name == "default" && to == "":
			set = maps.Clone(usual)
		case usual[name] == "" || to != "on" && to != "off" && to != "default":
			return "", sqlError(1231, "42000", "Variable '%s' can't be set to the value of '%.64s'",
				switchVariable, name+"="+to)
		case to == "default":
			changed[name] = usual[name]
		default:
			changed[name] = to
		}
	}
	maps.Copy(set, changed)
	var all []string
	for name := range eachSwitch(switches) {
		all = append(all, name+"="+set[name])
	}
	return strings.Join(all, ","), nil
}

// switchesOf are the switches of a whole value.
func switchesOf(text string) map[string]string { return maps.Collect(eachSwitch(text)) }

// eachSwitch goes through a text of switches.
func eachSwitch(text string) func(yield func(name, to string) bool) {
	return func(yield func(name, to string) bool) {
		for part := range strings.SplitSeq(strings.ToLower(text), ",") {
			name, to, _ := strings.Cut(strings.TrimSpace(part), "=")
			if name != "" && !yield(name, to) {
				return
			}
		}
	}
}
