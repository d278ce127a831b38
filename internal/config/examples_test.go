package config

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestTheExamplesAreValid(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.[yt]*ml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		f, err := Load(file, noEnv)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, w := range f.Warnings {
			t.Errorf("a warning: %v", w)
		}
	}
}

// TestTheDpkgExampleTakesInstallsAndUpgrades follows lines of each form through the steps of the example.
func TestTheDpkgExampleTakesInstallsAndUpgrades(t *testing.T) {
	f, err := Load("../../examples/dpkg.yaml", noEnv)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Build(nil, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string]component.Transform{}
	for _, n := range a.Nodes {
		steps[n.Name] = n.Transform
	}
	i := slices.IndexFunc(f.parts, func(p *part) bool { return p.name == "changes" })
	where, err := condition.Parse(f.parts[i].wants()[0].where.text)
	if err != nil {
		t.Fatal(err)
	}
	step := func(name string, m *message.Message) *message.Message {
		t.Helper()
		var out *message.Message
		if err := steps[name].Transform(t.Context(), m,
			func(_ string, made *message.Message) { out = made }); err != nil {
			t.Fatalf("%s: %s: %v", name, m.Body, err)
		}
		return out
	}
	for line, want := range map[string]string{
		"2025-06-24 14:36:25 startup archives unpack":                                          "",
		"2025-06-24 14:36:25 status half-configured libsystemd0:amd64 252.36-1~deb12u1":        "",
		"2025-06-24 14:36:25 status triggers-pending libc-bin:amd64 2.36-9+deb12u10":           "",
		"2025-06-24 14:36:25 configure libsystemd0:amd64 252.38-1~deb12u1 <none>":              "",
		"2025-06-24 14:36:25 trigproc libc-bin:amd64 2.36-9+deb12u10 <none>":                   "",
		"2025-06-24 14:36:25 remove tzdata:all 2025b-0+deb12u1 <none>":                         "",
		"2025-06-24 14:36:25 conffile /etc/logrotate.d/apt keep":                               "",
		"2025-06-24 14:36:25 upgrade libsystemd0:amd64 252.36-1~deb12u1 252.38-1~deb12u1":      `{"at":"2025-06-24 14:36:25","action":"upgrade","package":"libsystemd0","arch":"amd64","from":"252.36-1~deb12u1","to":"252.38-1~deb12u1"}`,
		"2025-06-24 14:36:25 install linux-image-6.1.0-37-amd64:amd64 <none> 6.1.140-1":        `{"at":"2025-06-24 14:36:25","action":"install","package":"linux-image-6.1.0-37-amd64","arch":"amd64","from":null,"to":"6.1.140-1"}`,
		"2025-06-24 14:36:25 upgrade libstdc++6:amd64 1:12.2.0-14+deb12u1 1:12.2.0-14+deb12u2": `{"at":"2025-06-24 14:36:25","action":"upgrade","package":"libstdc++6","arch":"amd64","from":"1:12.2.0-14+deb12u1","to":"1:12.2.0-14+deb12u2"}`,
		"2025-06-24 14:36:25 install base-passwd:amd64 <none> " + strings.Repeat("3", 50) +
			"~rc1+really3": `{"at":"2025-06-24 14:36:25","action":"install","package":"base-passwd","arch":"amd64","from":null,"to":"` + strings.Repeat("3", 50) + `~rc1+really3"}`,
	} {
		fields := step("log.decoding", &message.Message{Body: []byte(line)})
		match := where.Bind(func(name string) (int, bool) { return slices.Index(where.Names(), name), true })
		if got := match.Match(attributes{where.Names(), fields}); got != (want != "") {
			t.Errorf("%s: taken is %v", line, got)
		} else if !got {
			continue
		}
		var g, w any
		got := step("shape", fields).Body
		if json.Unmarshal(got, &g) != nil || json.Unmarshal([]byte(want), &w) != nil || !equalJSON(g, w) {
			t.Errorf("%s\nbecame %s", line, got)
		}
		if strings.Contains(string(got), "\n") {
			t.Errorf("%s is more than one line", got)
		}
	}
}

// attributes are the values of a condition's names.
type attributes struct {
	names []string
	m     *message.Message
}

func (a attributes) Slot(i int) message.Value {
	v, _ := a.m.Attributes.Get(a.names[i])
	return v
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
