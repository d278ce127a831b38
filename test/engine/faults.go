package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/nats-io/nats.go"
)

func pointer(p *uint32) uintptr { return uintptr(unsafe.Pointer(p)) }

// faults do their damage and return when all servers run again and can reach each other.
var faults = map[string]func(c *cluster, r *rand.Rand) error{
	"none": func(*cluster, *rand.Rand) error { time.Sleep(time.Second); return nil },

	// One, two or all are killed, up to three times in a row.
	"kill": func(c *cluster, r *rand.Rand) error {
		for range 1 + r.IntN(3) {
			if err := c.down(r, 1+r.IntN(len(c.nodes)), func(nd *node) error { nd.kill(); return nil }); err != nil {
				return err
			}
			between(r, 0, 2000)
		}
		return nil
	},

	// One or two are stopped for one to ten seconds.
	"stop": func(c *cluster, r *rand.Rand) error {
		hit := some(c, r, 1+r.IntN(2))
		for _, nd := range hit {
			nd.signal(syscall.SIGSTOP)
			between(r, 0, 300)
		}
		between(r, 1000, 10000)
		for _, nd := range hit {
			nd.signal(syscall.SIGCONT)
		}
		return nil
	},

	"partition": func(c *cluster, r *rand.Rand) error {
		defer c.heal()
		if err := part(c, r); err != nil {
			return err
		}
		between(r, 2000, 9000)
		return nil
	},

	// The power of one, two or all is cut.
	"powercut": func(c *cluster, r *rand.Rand) error {
		return c.down(r, 1+r.IntN(len(c.nodes)), (*node).cutPower)
	},

	// Bits of one node's files are flipped, or a file is cut off, while its server is down.
	"flip": func(c *cluster, r *rand.Rand) error {
		return c.down(r, 1, func(nd *node) error { nd.kill(); return damage(nd.dir, r) })
	},

	// The same after a clean stop, when the server has noted what its files hold and may not read them all again.
	"rot": func(c *cluster, r *rand.Rand) error {
		return c.down(r, 1, func(nd *node) error {
			nd.signal(syscall.SIGTERM)
			select {
			case <-nd.ended:
			case <-time.After(patient):
				nd.kill()
			}
			return damage(nd.dir, r)
		})
	},

	// One node comes back with an empty disk, and when it says that it is healthy, another one does.
	"disk": func(c *cluster, r *rand.Rand) error {
		for _, nd := range some(c, r, 2) {
			if err := nd.loseDisk(); err != nil {
				return err
			}
			between(r, 0, 1000)
			if err := c.start(nd); err != nil {
				return err
			}
			for end := time.Now().Add(patient); !nd.healthy() && time.Now().Before(end); {
				time.Sleep(100 * time.Millisecond)
			}
		}
		return nil
	},

	// The leaders of the stream and of the cluster are told to step down, again and again.
	"leader": func(c *cluster, r *rand.Rand) error {
		for range 3 + r.IntN(8) {
			if r.IntN(4) == 0 {
				_ = c.tell("s", "META.LEADER.STEPDOWN", nil, r)
			}
			_ = c.tell("a", "STREAM.LEADER.STEPDOWN."+stream, nil, r)
			between(r, 100, 1500)
		}
		return nil
	},

	// A server leaves for good, with its disk, and another one comes in its place; or one or two replicas are moved to
	// other nodes. Meanwhile others are cut off or killed. It wants five nodes.
	"member": func(c *cluster, r *rand.Rand) error {
		defer c.heal()
		if r.IntN(3) == 0 {
			if err := part(c, r); err != nil {
				return err
			}
		}
		var gone string
		if r.IntN(3) == 0 {
			nd := some(c, r, 1)[0]
			if err := nd.loseDisk(); err != nil {
				return err
			}
			gone = nd.name
			_ = c.tell("s", "SERVER.REMOVE", map[string]string{"peer": gone}, r)
			nd.name = fmt.Sprintf("n%d-%d", nd.id, r.IntN(1e6))
			between(r, 0, 3000)
			if err := c.start(nd); err != nil {
				return err
			}
		} else {
			for range 1 + r.IntN(2) {
				nd := some(c, r, 1)[0]
				_ = c.tell("a", "STREAM.PEER.REMOVE."+stream, map[string]string{"peer": nd.name}, r)
				between(r, 0, 1500)
			}
		}
		if r.IntN(2) == 0 {
			between(r, 0, 500)
			if err := c.down(r, 1+r.IntN(2), func(nd *node) error { nd.kill(); return nil }); err != nil {
				return err
			}
		}
		between(r, 500, 3000)
		c.heal()
		if gone == "" {
			return nil
		}
		// An operator tries until the cluster says that it has forgotten the server, or that it does not know it.
		for end := time.Now().Add(patient); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
			err := c.tell("s", "SERVER.REMOVE", map[string]string{"peer": gone}, r)
			if err == nil || strings.Contains(err.Error(), "not a member") {
				break
			}
		}
		return nil
	},

	// Two or three of kill, stop, partition, power cut and step-down at the same time.
	"mixed": func(c *cluster, r *rand.Rand) error {
		defer c.heal()
		if r.IntN(2) == 0 {
			if err := part(c, r); err != nil {
				return err
			}
			between(r, 0, 5000)
		}
		paused := some(c, r, 1)[0]
		paused.signal(syscall.SIGSTOP)
		between(r, 0, 5000)
		var others []*node
		for _, nd := range some(c, r, len(c.nodes)) {
			if nd != paused {
				others = append(others, nd)
			}
		}
		hit := others[:1+r.IntN(len(others))]
		for _, nd := range hit {
			if err := nd.cutPower(); err != nil {
				return err
			}
		}
		paused.signal(syscall.SIGCONT)
		between(r, 0, 3000)
		for _, nd := range hit {
			if err := c.start(nd); err != nil {
				return err
			}
		}
		between(r, 0, 3000)
		return nil
	},
}

func between(r *rand.Rand, least, most int) {
	time.Sleep(time.Duration(least+r.IntN(most-least)) * time.Millisecond)
}

func some(c *cluster, r *rand.Rand, n int) (picked []*node) {
	for _, i := range r.Perm(len(c.nodes))[:n] {
		picked = append(picked, c.nodes[i])
	}
	return picked
}

// down does something that ends n servers, and starts them again, each after a while of its own.
func (c *cluster) down(r *rand.Rand, n int, end func(*node) error) error {
	hit := some(c, r, n)
	for _, nd := range hit {
		if err := end(nd); err != nil {
			return err
		}
		if r.IntN(2) == 0 {
			between(r, 0, 400)
		}
	}
	for _, nd := range hit {
		between(r, 0, 1500)
		if err := c.start(nd); err != nil {
			return err
		}
	}
	return nil
}

// part makes one of four partitions: one node alone, one that nobody hears, a bridge (two that both reach the rest,
// but not each other), or two that reach nobody.
func part(c *cluster, r *rand.Rand) error {
	nds := some(c, r, len(c.nodes))
	kind, alone := r.IntN(4), 1
	if kind == 3 {
		alone = 2
	}
	for i, a := range nds {
		for j, b := range nds {
			cut := i != j && (min(i, j) < alone)
			switch kind {
			case 1:
				cut = i == 0 && j != 0
			case 2:
				cut = i+j == 1
			}
			if cut {
				if err := block(a, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tell asks one of the nodes something of JetStream's API, as user a of the stream's account or s of the system's.
func (c *cluster) tell(user, name string, ask any, r *rand.Rand) error {
	nc, err := connect(c.nodes[r.IntN(len(c.nodes))], nats.UserInfo(user, user))
	if err != nil {
		return err
	}
	defer nc.Close()
	return api(nc, name, ask, nil)
}

// damage changes one file below dir: up to eight bits, a page of zeros, or its length.
func damage(dir string, r *rand.Rand) error {
	var files []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() && info.Size() > 0 && strings.Contains(name, damaged) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		return err
	}
	name := files[r.IntN(len(files))]
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	what := r.IntN(4)
	switch what {
	case 0:
		b = b[:r.IntN(len(b))]
	case 1:
		at := r.IntN(len(b)) &^ 4095
		clear(b[at:min(at+4096, len(b))])
	default:
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
	}
	lastDamage = fmt.Sprintf("%s %s", [...]string{"cut off", "a page of zeros in", "bits in", "bits in"}[what], name)
	return os.WriteFile(name, b, 0o600)
}

var (
	damaged    string // part of the paths of files that may be damaged
	lastDamage string // for the notes
)
