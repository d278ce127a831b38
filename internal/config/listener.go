package config

import (
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/source/httpserver"
	"github.com/hikyaku/hikyaku/internal/source/syslog"
)

// Listener is a source that others send to.
type Listener struct {
	Name    string // of the source
	Setting string // that says where it listens
	Address string // HOST:PORT
	UDP     bool
	TLS     bool
	Asks    string // what it asks senders for; "": nothing
}

// Listeners are the sources that listen.
func (f *File) Listeners() (all []Listener) {
	for _, p := range f.parts {
		l := Listener{Name: p.name, Setting: p.path + ".listen"}
		switch c := p.config.(type) {
		case *httpserver.Config:
			l.Address, l.TLS = c.Listen, c.TLS.On()
			if l.Address == "" {
				l.Address = httpserver.DefaultListen
			}
			if c.Auth.Token != "" || c.Auth.User != "" {
				l.Asks = "a secret"
			}
		case *syslog.Config:
			l.Address, l.UDP, l.TLS = c.Listen, c.Mode == "udp", c.TLS.On()
			if l.Address == "" {
				l.Address = syslog.DefaultListen
			}
			if len(c.From) > 0 {
				l.Asks = "an address in " + strings.Join(c.From, ", ")
			}
		default:
			continue
		}
		all = append(all, l)
	}
	return all
}

// NamedFile is a file that a setting names.
type NamedFile struct {
	Setting string
	Path    string
	Hide    bool // the name came from the environment, and is not shown
}

// Keys are the files that settings name and others shall not read: all but certificates.
func (f *File) Keys() (all []NamedFile) {
	for _, n := range f.named {
		last := n.setting[strings.LastIndexByte(n.setting, '.')+1:]
		if !slices.Contains([]string{"cert", "cert_file", "ca_file"}, last) {
			all = append(all, NamedFile{n.setting, n.path, n.hide})
		}
	}
	return all
}

// HasSecrets tells whether a secret stands in the file itself, and not in the environment.
func (f *File) HasSecrets() bool {
	return len(f.secrets.short) > 0 || slices.ContainsFunc(f.secrets.kept, func(k mask.Secret) bool {
		return k.Shown == concealed
	})
}

// OpenToAnyone are the functions whose URL asks for nothing.
func (f *File) OpenToAnyone() (names []string) {
	for _, fn := range f.Functions {
		if u := fn.spec.URL; u != nil && u.Auth == "NONE" {
			names = append(names, fn.Name)
		}
	}
	return names
}
