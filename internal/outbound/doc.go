// Package outbound says where requests may go whose address somebody else has a hand in: push endpoints that a user of
// a door sets, endpoints in messages, names that someone else's DNS server resolves.
//
// A Policy lets every public address be reached, and of the others (this machine, link-local, private, cloud metadata,
// multicast, reserved ones) those that the configuration allows. It looks at the address that a connection is about to
// be made to, after the name was resolved and for every redirect: a name that resolves to something else the second
// time gains nothing.
//
//	policy, err := outbound.New([]string{"loopback", "10.1.0.0/16", "hook.internal"})
//	transport := &http.Transport{Proxy: policy.Proxy, DialContext: policy.Dial(&net.Dialer{Timeout: 10 * time.Second})}
//
// It is no firewall: what the operator names in the configuration for a purpose of its own, such as the address of a
// database, does not come by here, and neither does what functions' code does.
package outbound
