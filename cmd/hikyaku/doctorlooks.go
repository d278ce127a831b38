package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/doctor"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// patient is what the doctor looks at.
type patient struct {
	file   *config.File
	server int // the process that has data_dir open; 0: none, or not known
}

// durable tells whether an acknowledgement says that a message is on the disk.
func (p *patient) durable() bool { return p.file.Durability == "fsync" }

func (p *patient) disk(ctx context.Context) (found []doctor.Finding) {
	dirs := append([]string{p.file.DataDir}, p.journals()...)
	for _, dir := range doctor.Apart(dirs) {
		found = append(found, doctor.Disk(ctx, dir, p.durable())...)
	}
	if !p.durable() {
		found = append(found, doctor.Finding{Area: "disk", Level: doctor.Warn, What: "durability is " +
			p.file.Durability,
			Means: "an acknowledged message may be gone after a power cut", Do: "set durability: fsync if it must " +
				"not be"})
	}
	return found
}

// journals are the folders of journals that there are.
func (p *patient) journals() (dirs []string) {
	for _, dir := range append(shardDirs(p.file.DataDir), nodeLog(p.file.DataDir)) {
		if dir != "" && exists(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func (p *patient) room(context.Context) (found []doctor.Finding) {
	segments := int64(3 * p.file.Shards) // the first one of each journal and its spares
	if len(p.journals()) > 0 {
		segments = int64(p.file.Shards) // has the others already
	}
	least := func(disk int64) int64 {
		if n := p.file.Journal.SegmentBytes; n > 0 {
			return segments * n
		}
		return segments * file.SegmentBytesOn(disk)
	}
	dirs := p.journals()
	if len(dirs) == 0 {
		dirs = []string{p.file.DataDir}
	}
	for _, dir := range doctor.Apart(dirs) {
		found = append(found, doctor.Room(dir, least, p.file.Limits.Bytes)...)
	}
	return found
}

func (p *patient) files(context.Context) []doctor.Finding {
	found := []doctor.Finding{doctor.Folder(p.file.DataDir)}
	if first, n := openToOthers(p.file.DataDir); n > 0 {
		found = append(found, doctor.Finding{Area: "files", Level: doctor.Bad, What: fmt.Sprintf("other accounts "+
			"may get at "+
			"%s of data_dir, first %s", count(int64(n), "file"), first), Means: "messages are readable there",
			Do: "chmod -R go= " + p.file.DataDir})
	}
	secret := func(path, what string) {
		if f, ok := doctor.Secret(path, what); ok {
			found = append(found, f)
		}
	}
	if p.file.HasSecrets() {
		secret(p.file.Name, "the configuration, which has secrets in it")
	}
	for _, k := range p.file.Keys() {
		if k.Hide { // its name is not shown
			if f, ok := doctor.Secret(k.Path, k.Setting); ok && f.Level != doctor.OK {
				f.What, f.Do = "the file of "+k.Setting+" cannot be read, or others may read it", "look at its mode"
				found = append(found, f)
			}
			continue
		}
		secret(k.Path, k.Setting)
	}
	return found
}

func (p *patient) limits(context.Context) []doctor.Finding {
	const usual, connections = 64 << 30, 1024
	l := p.file.Limits
	bytes, segment := l.Bytes, p.file.Journal.SegmentBytes
	if bytes == 0 {
		bytes = usual
	}
	if segment == 0 {
		segment = file.SegmentBytesOn(0)
	}
	return doctor.Limits(doctor.Wants{Files: uint64(bytes/segment) + connections, Memory: l.Memory + l.BusyBytes})
}

func (p *patient) clock(begun time.Time) []doctor.Finding {
	c := doctor.Clock{Begun: begun}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" {
				c.Built, _ = time.Parse(time.RFC3339, s.Value) // zero says that it is not known
			}
		}
	}
	for _, dir := range p.journals() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // Folder tells
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.ModTime().After(c.Written) {
				c.Written = info.ModTime()
			}
		}
	}
	return c.Look(time.Now())
}

// versions looks at the formats of the journals and at the server that runs.
func (p *patient) versions(ctx context.Context) (found []doctor.Finding) {
	formats := doctor.Ok("versions", "this is hikyaku %s", version())
	for _, dir := range p.journals() {
		err := file.Known(dir)
		var format *journal.FormatError
		switch {
		case errors.As(err, &format):
			formats = doctor.Finding{Area: "versions", Level: doctor.Bad, What: err.Error(), Means: "hikyaku does " +
				"not start",
				Do: hintFor(err)}
		case err != nil:
			formats = doctor.Finding{Area: "versions", Level: doctor.Warn, What: err.Error(), Means: "the format of " +
				"the " +
				"journal is not known", Do: "run this as the account that hikyaku runs as"}
		}
	}
	found = append(found, formats)
	if made := len(shardDirs(p.file.DataDir)); exists(journalDir(p.file.DataDir)) && made != p.file.Shards {
		err := wrongShards(p.file, made)
		found = append(found, doctor.Finding{Area: "versions", Level: doctor.Bad, What: err.Error(),
			Means: "hikyaku does " +
				"not start", Do: hintFor(err)})
	}
	return append(found, p.running(ctx)...)
}

// running looks at the server that has data_dir open.
func (p *patient) running(ctx context.Context) []doctor.Finding {
	dir := journalDir(p.file.DataDir)
	if p.file.Cluster.On() {
		dir = p.file.DataDir
	}
	pid, held, err := file.Holder(dir)
	switch {
	case err != nil:
		return []doctor.Finding{{Area: "versions", Level: doctor.Warn, What: err.Error(), Means: "it is not known " +
			"whether " +
			"hikyaku runs", Do: "run this as the account that hikyaku runs as"}}
	case !held:
		return []doctor.Finding{doctor.Ok("versions", "no hikyaku has data_dir %s open", p.file.DataDir)}
	}
	p.server = pid
	return []doctor.Finding{p.sameVersion(pid), p.reachable(ctx)}
}

// sameVersion compares the running program with this one.
func (p *patient) sameVersion(pid int) doctor.Finding {
	exe := filepath.Join("/proc", fmt.Sprint(pid), "exe")
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		return doctor.Ok("versions", "process %d has data_dir open; which version it is cannot be seen", pid)
	}
	own, _ := os.Executable()
	mine, err1 := os.Stat(own)
	its, err2 := os.Stat(exe)
	if err1 == nil && err2 == nil && os.SameFile(mine, its) {
		return doctor.Ok("versions", "process %d has data_dir open, and is this very program", pid)
	}
	if v := versionOf(info); v != version() {
		return doctor.Finding{Area: "versions", Level: doctor.Warn, What: fmt.Sprintf("process %d, which has "+
			"data_dir open, "+
			"is hikyaku %s", pid, v), Means: "another version than this one runs", Do: "restart it if this one was " +
			"installed " +
			"since"}
	}
	return doctor.Ok("versions", "process %d has data_dir open, and is of this version", pid)
}

// reachable asks the HTTP door whether it takes messages.
func (p *patient) reachable(ctx context.Context) doctor.Finding {
	const answer = 2 * time.Second
	i := slices.IndexFunc(doorsOf(&p.file.API), func(d doorAt) bool { return d.name == "http" })
	door := doorsOf(&p.file.API)[i]
	host, port, err := net.SplitHostPort(door.listen)
	switch {
	case door.off:
		return doctor.Ok("versions", "its HTTP door is closed: it was not asked whether it takes messages")
	case err != nil || port == "0":
		return doctor.Ok("versions", "its HTTP door has any port: it was not asked whether it takes messages")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	address := net.JoinHostPort(host, port)
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	if door.tls { // whose certificate it is says who calls; here it is only whether somebody answers
		var c net.Conn
		if c, err = new(net.Dialer).DialContext(ctx, "tcp", address); err == nil {
			err = c.Close()
		}
	} else {
		var client *httpdoor.Client
		if client, err = httpdoor.NewClient(httpdoor.ClientConfig{URL: "http://" + address}); err == nil {
			err = client.Ready(ctx)
		}
	}
	if err != nil {
		return doctor.Finding{Area: "versions", Level: doctor.Bad, What: "the running hikyaku: " + err.Error(),
			Means: "it " +
				"takes no messages, or not at " + address, Do: "look into its log; if its configuration was changed " +
				"since, " +
				"restart it"}
	}
	return doctor.Ok("versions", "the running hikyaku answers at %s", address)
}
