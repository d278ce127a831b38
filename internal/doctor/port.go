package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Port is an address that is to be listened at.
type Port struct {
	Name    string // of what listens, as "door http"
	Setting string // that says where
	Address string // HOST:PORT
	UDP     bool
	Yields  bool // it stays closed where its port is taken
}

// Look tells whether the port can be had, and who has it. server is the process that is expected there, 0 for none.
func (p *Port) Look(ctx context.Context, server int) Finding {
	what := p.Name + ", " + p.Address
	_, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return Finding{"ports", Bad, what + ": " + err.Error(), "hikyaku does not start", "set " + p.Setting + " to " +
			"HOST:PORT"}
	}
	if port == "0" {
		return Ok("ports", "%s: any port that is free", what)
	}
	switch err := p.try(ctx); {
	case err == nil:
		return Ok("ports", "%s: free", what)
	case errors.Is(err, syscall.EADDRINUSE):
		number, _ := strconv.ParseUint(port, 10, 16)
		return p.taken(what, holders(uint16(number), p.UDP), server)
	case errors.Is(err, syscall.EACCES):
		return Finding{"ports", Bad, what + ": this account may not listen there", "hikyaku does not start", "take " +
			"a port " +
			"from 1024 on, or give the service AmbientCapabilities=CAP_NET_BIND_SERVICE"}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return Finding{"ports", Bad, what + ": this machine has no such address", "hikyaku does not start",
			"set " + p.Setting + " to an address of this machine"}
	default:
		return Finding{"ports", Bad, what + ": " + err.Error(), "hikyaku does not start", "set " + p.Setting}
	}
}

// try listens for a moment.
func (p *Port) try(ctx context.Context) error {
	var l net.ListenConfig
	if p.UDP {
		c, err := l.ListenPacket(ctx, "udp", p.Address)
		if err != nil {
			return err
		}
		return c.Close()
	}
	c, err := l.Listen(ctx, "tcp", p.Address)
	if err != nil {
		return err
	}
	return c.Close()
}

// taken says whose a port is.
func (p *Port) taken(what string, by []Process, server int) Finding {
	who := "another program"
	for _, o := range by {
		if o.PID == server && server != 0 {
			return Ok("ports", "%s: the running hikyaku, process %d, has it", what, server)
		}
		who = fmt.Sprintf("process %d (%s)", o.PID, o.Name)
	}
	if len(by) == 0 && server != 0 { // it may be the server's, which another account may not look at
		return Ok("ports", "%s: taken, as it is while hikyaku runs (whose it is this account may not see)", what)
	}
	f := Finding{"ports", Bad, what + ": " + who + " has this port", "hikyaku does not start",
		"stop that program, or set " + p.Setting}
	if p.Yields {
		f.Level, f.Means = Warn, "this door stays closed, and the others open"
	}
	return f
}

// Process is one that runs.
type Process struct {
	PID  int
	Name string
}
