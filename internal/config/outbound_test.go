package config

import "testing"

const hooked = `sources: { in: { type: queue, queue: orders } }
sinks:
  hook: { type: webhook, inputs: [in], url: "http://127.0.0.1:8080/hook" }
`

const someUsers = "users: { shop: { secret: correct-horse, grants: [{ can: [put], on: [orders] }] } }\n"

func TestAddressesInsideAreAllowedWithoutUsersOrWhereTheConfigurationSaysSo(t *testing.T) {
	for _, text := range []string{
		hooked,
		"outbound: { allow: [loopback] }\n" + someUsers + hooked,
		"outbound: { allow: [127.0.0.0/8] }\n" + someUsers + hooked,
		"outbound: { allow: 127.0.0.1 }\n" + someUsers + hooked,
	} {
		f := parse(t, "a.yaml", text)
		if err := f.Outbound.CheckHost("127.0.0.1"); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	mistakes(t, "a.yaml", someUsers+hooked)
	mistakes(t, "a.yaml", "outbound: { allow: [] }\n"+hooked)
	mistakes(t, "a.yaml", "outbound: { allow: [private] }\n"+hooked)
	if err := parse(t, "a.yaml", someUsers).Outbound.CheckHost("10.0.0.1"); err == nil {
		t.Error("with users private addresses may be reached")
	}
}
