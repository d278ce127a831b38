package sqs

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	ends "github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// caller is who makes a request.
type caller struct {
	user    *access.User // nil without users
	account string       // the namespace of queues that are named without one
	region  string       // in the ARNs that the caller sees
}

// admit finds out who calls, and refuses strangers.
func (c *call) admit(in *wire.Call, body []byte) error {
	key, region := credential(c.r)
	c.caller = caller{account: queue.DefaultNamespace, region: region}
	if region == "" {
		c.caller.region = c.d.config.Region
	}
	if c.d.users.Any() {
		user, err := c.authenticate(body)
		if err != nil {
			return err
		}
		c.caller.user = user
	} else {
		if err := c.local(); err != nil {
			return err
		}
		if len(key) == len(localAccount) && sqsattr.Digits(key) { // as other emulators have it
			c.caller.account = key
		}
	}
	if in.Request != nil && in.Request.Queue() == "" {
		// An endpoint may be of an account: http://localhost:9324/team
		if path := strings.Trim(c.r.URL.Path, "/"); path != "" && !strings.Contains(path, "/") {
			c.caller.account = path
		}
	}
	return nil
}

// local refuses, without users, what a web page could send with the browser of somebody who can reach the door: pages
// of other sites, and hosts that are not this machine, since any web site may let its own name point here.
func (c *call) local() error {
	if site := c.r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return wire.AccessDenied("from a web page of another site")
	}
	host := c.r.Host
	if origin := c.r.Header.Get("Origin"); origin != "" && !strings.HasSuffix(origin, "://"+host) {
		return wire.AccessDenied("from a web page of " + shortened(origin))
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if host != "" && !access.LoopbackHost(host) && net.ParseIP(host) == nil {
		return wire.AccessDenied("at " + shortened(host) + " (without users the door answers only to localhost and " +
			"addresses: add users: to reach it by a name)")
	}
	return nil
}

// credential reads the access key id and the region that a request is signed with, or says that it is; "" where it does
// not say.
func credential(r *http.Request) (key, region string) {
	_, scope, ok := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !ok {
		if r.URL.RawQuery == "" {
			return "", ""
		}
		scope = r.URL.Query().Get("X-Amz-Credential")
	}
	key, scope, _ = strings.Cut(scope, "/")
	_, scope, _ = strings.Cut(scope, "/") // the day
	region, _, ok = strings.Cut(scope, "/")
	if !ok || !regionLike(region) {
		region = ""
	}
	return key, region
}

// regionLike tells whether a text can stand in an ARN as a region.
func regionLike(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// at is the queue that a request names, if the caller may do anything with it.
func (c *call) at(in wire.Request) (queue.Name, error) {
	n, err := c.parseURL(in.Queue())
	if err != nil {
		return n, err
	}
	return n, c.seen(n)
}

// on is the queue that a request names, if the caller may do that with it.
func (c *call) on(in wire.Request, can access.Action) (queue.Name, error) {
	n, err := c.parseURL(in.Queue())
	if err != nil {
		return n, err
	}
	return n, c.may(can, n)
}

// may refuses what the caller was not granted. The context of a request to administer tells from now on who asks.
func (c *call) may(can access.Action, n queue.Name) error {
	if can == access.Admin {
		c.r = c.r.WithContext(access.Asked(c.ctx(), c.caller.user, c.r.RemoteAddr, c.r.Header.Get(sigv4.InvocationID)))
	}
	if c.d.users.Allowed(c.caller.user, can, n) {
		return nil
	}
	if !c.d.users.Any() {
		return c.sameAccount(n)
	}
	return wire.AccessDenied(c.arnOf(n) + " (" + string(can) + " is not granted)")
}

// sameAccount refuses, without users, other accounts of this machine.
func (c *call) sameAccount(n queue.Name) error {
	end := ends.From(c.ctx())
	if c.x != nil {
		end = c.x.Caller()
	}
	var other *access.LocalError
	if errors.As(c.d.users.Local(end), &other) {
		return wire.AccessDeniedSince(c.arnOf(n), other.Whole())
	}
	return nil
}

// seen refuses to show what the caller was granted nothing of.
func (c *call) seen(n queue.Name) error {
	if c.d.users.Visible(c.caller.user, n) {
		return nil
	}
	return wire.AccessDenied(c.arnOf(n))
}
