package config

import (
	"strings"
	"testing"
)

func TestTheEnvironmentFillsValues(t *testing.T) {
	env := []string{"DIR=/var/lib", "N=7", "EMPTY=", "NASTY=x\nqueues: {evil: {}}", "REF=${DIR}", "COND=a = 1",
		"T=true"}
	for _, c := range []struct{ text, want string }{
		{"data_dir: ${DIR}/journal", "/var/lib/journal"},
		{"data_dir: '${DIR}${N}'", "/var/lib7"},
		{"data_dir: ${MISSING:-./here}", "./here"},
		{"data_dir: ${EMPTY:-./here}", "./here"},
		{"data_dir: ${MISSING:-a:-b}", "a:-b"},
		{"data_dir: $${DIR} costs $$5", "${DIR} costs $5"},
		{"data_dir: $DIR and $", "$DIR and $"},
		{"data_dir: \"${NASTY}\"", "x\nqueues: {evil: {}}"},
		{"data_dir: ${NASTY}", "x\nqueues: {evil: {}}"},
		{"data_dir: ${REF}", "${DIR}"},
		{"data_dir: ${N}", "7"},
		{"data_dir: x${EMPTY}", "x"},
	} {
		f := parse(t, "a.yaml", c.text, env...)
		if f.DataDir != c.want {
			t.Errorf("%s: data_dir is %q, not %q", c.text, f.DataDir, c.want)
		}
		if len(f.Queues) != 0 {
			t.Errorf("%s: the environment made a queue", c.text)
		}
	}
}

func TestAValueFromTheEnvironmentTakesTheTypeOfItsKey(t *testing.T) {
	text := `
limits: { messages: "${N}", bytes: "${SIZE}" }
api: { http: { off: "${T}" } }
queues: { news: { lease: "${D}", max_attempts: "${N}", ordering: "${O}" } }
`
	f := parse(t, "a.yaml", text, "N=7", "T=true", "SIZE=10k", "D=90s", "O=none")
	if f.Limits.Messages != 7 || f.Limits.Bytes != 10240 || !f.API.HTTP.Off ||
		f.Queues[0].Definition.Lease.Seconds() != 90 ||
		f.Queues[0].Definition.MaxAttempts != 7 || !f.Queues[0].Definition.Unordered {
		t.Errorf("%+v %+v", f.Limits, f.Queues[0].Definition)
	}
	for name, text := range map[string]string{
		"a.json": `{"limits": {"messages": "${N}"}}`,
		"a.toml": "limits.messages = '${N}'",
	} {
		if f := parse(t, name, text, "N=7"); f.Limits.Messages != 7 {
			t.Errorf("%s: %+v", name, f.Limits)
		}
	}
}

func TestAliasesShareWhatTheEnvironmentFilledIn(t *testing.T) {
	f := parse(t, "a.yaml", `
queues:
  a: &usual { labels: { cost: "$$5 ${N}" }, max_attempts: 3 }
  b: *usual
  c: { <<: *usual, max_attempts: 4 }
`, "N=$$7")
	for i, attempts := range []int{3, 3, 4} {
		d := f.Queues[i].Definition
		if d.Labels["cost"] != "$5 $$7" || d.MaxAttempts != attempts {
			t.Errorf("%s: %+v", f.Queues[i].Name, d)
		}
	}
}

func TestKeysAreNotFilled(t *testing.T) {
	errs := mistakes(t, "a.yaml", "${N}: 5\n", "N=data_dir")
	if !strings.Contains(errs[0].Message, `unknown key "${N}"`) {
		t.Error(errs)
	}
}

func TestNoSecretIsEverShown(t *testing.T) {
	const secret = "correct horse battery"
	for _, text := range []string{
		"data_dir: {a: '${S}'}",
		"durability: ${S}",
		"durability: x${S}y",
		"limits: { messages: '${S}', bytes: '${S}', queues: '1${S}' }",
		"api: { http: { listen: '${S}', max_wait: '${S}', off: '${S}' } }",
		"queues: { news: { lease: '${S}', dead_letter: '${S}', filter: '${S}', columns: '${S}', topic: '${S}' } }",
		"queues: { news: { columns: ['id int', 'id ${S}'] } }",
		"namespaces: { a: ['${S}'] }",
		"users: [{ name: '${S}', secret: 'x', grants: ['${S}'] }]",
		"users: [{ name: 'a', secret: '${S}', grants: [{ can: '${S}', on: 'x' }] }]",
		"users: [{ name: 'a', secret: '" + secret + "', grants: [{ can: 'x', on: 'x' }] }, { name: 'b', secret: '" +
			secret + "' }]",
		"users: [{ name: 'a', secret: ['" + secret + "'] }]",
		"sources: { a: { type: '${S}' } }",
		"sources: { a: { type: stdin, max_line_bytes: '${S}', decoding: { codec: '${S}' } } }",
		"sources: { a: { type: stdin, decoding: { codec: regex, pattern: '(${S}' } } }",
		"sources: { a: { type: stdin, decoding: { codec: json, types: { a: '${S}' }, attributes: '${S}' } } }",
		"sources: { a: { type: stdin } }\ntransforms: { b: { type: filter, inputs: '${S}', where: '${S}' } }",
		"sources: { a: { type: stdin } }\ntransforms: { b: { type: filter, inputs: ['a.${S}', a], where: '${S} ${S} " +
			"or' } }",
		"sources: { a: { type: stdin } }\ntransforms: { b: { type: route, inputs: a, routes: { x: '${S}', y: " +
			"['${S}'] } } }",
		"log: { level: '${S}', format: ['${S}'] }",
	} {
		errs := mistakes(t, "a.yaml", text, "S="+secret)
		for _, shown := range []string{errs.Error(), errs.Pretty([]byte(text))} {
			if strings.Contains(shown, secret) {
				t.Errorf("%s\nis shown:\n%s", text, shown)
			}
		}
	}
}

func TestAShortSecretIsNotDescribed(t *testing.T) {
	errs := mistakes(t, "a.yaml", "durability: ${S}\nlimits: { messages: '${S}' }\n", "S=pin")
	if strings.Contains(errs.Error(), "pin") {
		t.Error(errs)
	}
}
