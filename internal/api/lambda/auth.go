package lambda

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// newVerifier makes what checks signatures: the access key is a user's name, the signing key the user's secret.
func (d *Server) newVerifier() sigv4.Verifier {
	return sigv4.Verifier{
		Service: "lambda",
		Secrets: d.users.Signing,
	}
}

// admit finds out who calls, and refuses strangers.
func (c *call) admit(body []byte) error {
	if !c.d.users.Any() {
		if err := c.local(); err != nil {
			return err
		}
		return c.sameAccount()
	}
	who, err := c.d.verifier.Verify(c.r, body)
	var refused *sigv4.Error
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	user, err := c.d.users.Proved(c.r.Context(), access.Attempt{Door: "lambda", Address: c.r.RemoteAddr}, who.AccessKey,
		refused.Reason())
	var slow *access.SlowError
	switch {
	case errors.As(err, &slow):
		c.w.Header().Set("Retry-After", strconv.Itoa(slow.Seconds()))
		return &Error{Name: "TooManyRequestsException", Status: http.StatusTooManyRequests, Message: slow.Error()}
	case errors.Is(err, access.ErrDenied) && refused != nil:
		return unsigned(refused)
	case errors.Is(err, access.ErrDenied):
		return denied("The security token included in the request is invalid: the user is not there any more")
	}
	c.user = user
	return err
}

// unsigned is the answer to a signature that is refused, in Lambda's words.
func unsigned(refused *sigv4.Error) error {
	name := refused.Shown()
	switch name {
	case sigv4.InvalidClientTokenID:
		name = "UnrecognizedClientException"
	case sigv4.SignatureDoesNotMatch:
		name = "InvalidSignatureException"
	case sigv4.MissingAuthenticationToken, sigv4.IncompleteSignature:
		name += "Exception"
	}
	return &Error{Name: name, Status: http.StatusForbidden, Message: refused.Message}
}

// local refuses, without users, what a web page could send with the browser of somebody who can reach the door.
func (c *call) local() error {
	if site := c.r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return denied("a web page of another site may not call")
	}
	if origin := c.r.Header.Get("Origin"); origin != "" && !strings.HasSuffix(origin, "://"+c.r.Host) {
		return denied("a web page of " + shortened(origin) + " may not call")
	}
	return c.here()
}

// here refuses hosts that are not this machine, since any web site may let its own name point here.
func (c *call) here() error {
	host := hostname(c.r.Host)
	if i := strings.Index(host, urlHost); i > 0 {
		host = strings.TrimPrefix(host[i+len(urlHost):], ".")
	}
	if host != "" && !access.LoopbackHost(host) && !strings.HasSuffix(host, ".localhost") && net.ParseIP(host) == nil {
		return denied("calls to " + shortened(host) + " are not answered: without users the door answers only to " +
			"localhost and addresses (add users: to reach it by a name)")
	}
	return nil
}

// sameAccount refuses, without users, other accounts of this machine: whatever is called here runs code as this one.
func (c *call) sameAccount() error {
	var end *caller.End
	if c.x != nil {
		end = c.x.Caller()
	} else {
		end = caller.From(c.ctx())
	}
	var other *access.LocalError
	if errors.As(c.d.users.Local(end), &other) {
		return denied("User: anonymous is not authorized to perform: " + c.action + ": " + other.Whole())
	}
	return nil
}

func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.Trim(host, "[]")
}

// named is a function as grants name it.
func named(function string) queue.Name {
	return queue.Name{Namespace: queue.DefaultNamespace, Name: function}
}

// may refuses what the caller was not granted on a function.
func (c *call) may(can access.Action, function string) error {
	if c.d.users.Allowed(c.user, can, named(function)) {
		return nil
	}
	if !c.d.users.Any() {
		return c.sameAccount()
	}
	return denied("User: " + c.who() + " is not authorized to perform: " + c.action + " on resource: " +
		c.d.functions.ARN(function, "") + " (" + string(can) + " is not granted)")
}

// seen refuses to show what the caller was granted nothing of.
func (c *call) seen(function string) error {
	if c.d.users.Visible(c.user, named(function)) {
		return nil
	}
	return denied("User: " + c.who() + " is not authorized to perform: " + c.action + " on resource: " +
		c.d.functions.ARN(function, ""))
}

// mayQueue refuses what the caller was not granted on a queue.
func (c *call) mayQueue(can access.Action, n queue.Name) error {
	if c.d.users.Allowed(c.user, can, c.d.store.Resolve(n)) {
		return nil
	}
	return denied("User: " + c.who() + " is not authorized to perform: " + c.action + " on resource: " + n.String() +
		" (" + string(can) + " is not granted)")
}

func (c *call) who() string {
	if c.user == nil {
		return "anonymous"
	}
	return c.user.Name
}
