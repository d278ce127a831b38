package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/doctor"
)

// closed are doors that are closed.
const closed = "api: { http: { off: true }, mysql: { off: true }, pubsub: { off: true }, sqs: { off: true }, " +
	"lambda: { off: true } }\n"

// examined is what the doctor finds of a configuration in a folder.
func examined(t *testing.T, dir, text string) []doctor.Finding {
	t.Helper()
	name := filepath.Join(dir, "hikyaku.yaml")
	if err := os.WriteFile(name, []byte("data_dir: "+filepath.ToSlash(dir)+"/data\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Load(name, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	return examine(t.Context(), f)
}

// saw wants a finding of an area whose texts have all the words.
func saw(t *testing.T, found []doctor.Finding, area string, level doctor.Level, words ...string) {
	t.Helper()
	if !slices.ContainsFunc(found, func(f doctor.Finding) bool {
		text := f.What + "\n" + f.Means + "\n" + f.Do
		return f.Area == area && f.Level == level &&
			!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}) {
		t.Errorf("nothing of %s is %s with %q in %+v", area, level, words, found)
	}
}

func TestTheDoctorLeavesNothingBehindAndSeesWhatIsAmiss(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // its modes say nothing
	}
	dir := t.TempDir()
	found := examined(t, dir, closed)
	saw(t, found, "files", doctor.OK, "is not there yet")
	saw(t, found, "versions", doctor.OK, "no hikyaku has data_dir")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("it left %v, %v", entries, err)
	}
	openAndClose(t, filepath.Join(dir, "data"))
	before := tree(t, dir)
	found = examined(t, dir, closed)
	saw(t, found, "files", doctor.OK, "this account's, mode 0700")
	if !slices.ContainsFunc(found, func(f doctor.Finding) bool { // the medium of this machine may be anything
		return f.Area == "disk" && strings.Contains(f.What, "its sync take")
	}) {
		t.Errorf("no sync was timed: %+v", found)
	}
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Errorf("it left %v of %v", after, before)
	}
	if err := os.Chmod(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	saw(t, examined(t, dir, closed), "files", doctor.Bad, "other accounts may get at", "chmod -R go=")
}

// tree are the names of all that is in a folder.
func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

func TestTheDoctorKnowsANewerFormatAndAnotherNumberOfShards(t *testing.T) {
	dir := t.TempDir()
	openAndClose(t, filepath.Join(dir, "data"))
	saw(t, examined(t, dir, closed+"shards: 2\n"), "versions", doctor.Bad, "has 1 shard", "journal split")
	lists, err := filepath.Glob(filepath.Join(dir, "data", "journal", "manifest-*"))
	if err != nil || len(lists) == 0 {
		t.Fatal(lists, err)
	}
	for _, name := range lists {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		body, _, _ := strings.Cut(strings.Replace(string(text), "journal 1", "journal 2", 1), "crc ")
		sum := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))
		if err := os.WriteFile(name, fmt.Appendf(nil, "%scrc %08x\n", body, sum), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	saw(t, examined(t, dir, closed), "versions", doctor.Bad, "written by a later version of hikyaku, in format 2",
		"nothing is damaged")
}

func TestTheDoctorSaysWhatIsOpenToWhom(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("a very long secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	found := examined(t, dir, `
api: { http: { listen: "`+l.Addr().String()+`" }, sqs: { listen: "0.0.0.0:0" }, mysql: { off: true } }
users: [{ name: annabel, secret_file: "`+filepath.ToSlash(secret)+`", grants: [{ can: [put, admin], on: ["*"] }] }]
functions: { hello: { runtime: command, command: [cat], code: ., url: none } }
sources: { logs: { type: syslog, mode: udp, listen: "0.0.0.0:0", from: [10.0.0.0/8] } }
sinks: { out: { type: stdout, inputs: [logs] } }
`)
	saw(t, found, "ports", doctor.Bad, "door http, "+l.Addr().String(), "process", "api: http: listen:")
	saw(t, found, "open", doctor.OK, "door http", "from this machine alone", "it is alive")
	saw(t, found, "open", doctor.Warn, "door sqs, 0.0.0.0:0, from other machines, without TLS", "api: sqs: tls:")
	saw(t, found, "open", doctor.Warn, "door lambda", "hello", "url: iam")
	saw(t, found, "open", doctor.Warn, "source logs", "an address in 10.0.0.0/8")
	saw(t, found, "open", doctor.OK, "user annabel", "may put, admin on *", "deploy")
	if runtime.GOOS != "windows" {
		saw(t, found, "files", doctor.Bad, secret, "0644")
	}
	text, err := json.Marshal(found)
	if err != nil || strings.Contains(string(text), "very long") {
		t.Errorf("%s, %v", text, err)
	}
	found = examined(t, dir, "access: { local_accounts: any }\n")
	saw(t, found, "open", doctor.Warn, "door lambda", "every account of this machine may deploy functions")
	if runtime.GOOS == "linux" {
		found = examined(t, dir, "users: [{ name: annabel, secret: a long secret }]\n"+closed)
		saw(t, found, "open", doctor.OK, "user annabel", "may do nothing")
		saw(t, found, "files", doctor.OK, "the configuration, which has secrets in it")
		found = examined(t, dir, "durability: none\n")
		saw(t, found, "open", doctor.OK, "door http", "only this account")
		saw(t, found, "disk", doctor.Warn, "durability is none")
	}
}

func TestTheDoctorMeetsARunningServer(t *testing.T) {
	dir := t.TempDir()
	s := serveHere(t, dir, strings.Replace(closed, "http: { off: true }", "http: { listen: 127.0.0.1:0 }", 1)+
		"data_dir: ${HIKYAKU_DATA}\n")
	text := strings.Replace(closed, "http: { off: true }", "http: { listen: \""+strings.TrimPrefix(s.url,
		"http://")+"\" }",
		1)
	found := examined(t, dir, text)
	saw(t, found, "versions", doctor.OK, "the running hikyaku answers at")
	saw(t, found, "versions", doctor.OK, "has data_dir open")
	saw(t, found, "ports", doctor.OK, "the running hikyaku, process")
	r := hikyaku(t, "", nil, "doctor", "-c", filepath.Join(dir, "hikyaku.yaml"), "--json")
	var report struct {
		Level, Version string
		Findings       []doctor.Finding
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || len(report.Findings) != len(found) ||
		(report.Level == "bad") != (r.code == exitFailed) {
		t.Errorf("%+v, %v", r, err)
	}
	saw(t, report.Findings, "versions", doctor.OK, "is this very program")
	s.stop(t)
	if r := hikyaku(t, "", nil, "doctor", "-c", filepath.Join(dir, "none.yaml")); r.code != exitFailed {
		t.Errorf("%+v", r)
	}
	if r := hikyaku(t, "", nil, "doctor", "hikyaku.yaml"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
	r = hikyaku(t, "", nil, "doctor", "-c", filepath.Join(dir, "hikyaku.yaml"))
	if !strings.Contains(r.stdout, "versions\n  ok    this is hikyaku") || !strings.Contains(r.stdout, " ok, ") ||
		(r.code == 0) == strings.Contains(r.stdout, "\n  bad ") {
		t.Errorf("%+v", r)
	}
}
