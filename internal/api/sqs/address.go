package sqs

import (
	"net/url"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// localAccount is the account that emulators of SQS use. By the default configuration it is another name of the default
// namespace.
const localAccount = "000000000000"

// account is what a namespace is called as an account of SQS.
func (d *Server) account(namespace string) string {
	if namespace != localAccount && d.store.Resolve(queue.Name{Namespace: localAccount}).Namespace == namespace {
		return localAccount
	}
	return namespace
}

// urlOf is the URL of a queue at the address that the client used.
func (c *call) urlOf(n queue.Name) string {
	scheme := "http://"
	if c.d.config.TLS.On() {
		scheme = "https://"
	}
	host := c.r.Host
	if host == "" {
		host = c.d.Addr().String()
	}
	return scheme + host + "/" + escaped(c.d.account(n.Namespace)) + "/" + escaped(n.Name)
}

// escaped is a segment of a URL's path. Names of SQS need no escapes, those of other doors may.
func escaped(s string) string {
	for i := range len(s) {
		if c := s[i]; !wordByte(c) && c != '.' {
			return url.PathEscape(s)
		}
	}
	return s
}

// wordByte tells whether SQS allows the character in the names of queues.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// parseURL reads what a request calls a queue, and resolves it.
func (c *call) parseURL(text string) (queue.Name, error) {
	n, err := splitURL(text, c.caller.account)
	if err != nil {
		return n, err
	}
	return c.d.store.Resolve(n), nil
}

// splitURL reads a URL with whatever host, of which the last two segments of the path are account and name; the path
// alone; or the name alone, which is then of the account that is given.
func splitURL(text, account string) (queue.Name, error) {
	path := text
	if i := strings.Index(path, "://"); i >= 0 {
		path = path[i+3:]
		if i = strings.IndexByte(path, '/'); i < 0 {
			return queue.Name{}, wire.InvalidAddress(text)
		}
		path = path[i:]
	}
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	path = strings.TrimSuffix(path, "/")
	n := queue.Name{Namespace: account, Name: path}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		n.Name, path = path[i+1:], path[:i]
		if path = path[strings.LastIndexByte(path, '/')+1:]; path != "" {
			n.Namespace = path
		}
	}
	for _, part := range []*string{&n.Namespace, &n.Name} {
		if strings.IndexByte(*part, '%') < 0 {
			continue
		}
		plain, err := url.PathUnescape(*part)
		if err != nil {
			return n, wire.InvalidAddress(text)
		}
		*part = plain
	}
	if n.Check() != nil {
		return n, wire.InvalidAddress(text)
	}
	return n, nil
}

// named is a queue of the caller's account, or of another.
func (c *call) named(account, name string) (queue.Name, error) {
	if account == "" {
		account = c.caller.account
	}
	n := queue.Name{Namespace: account, Name: name}
	if n.Check() != nil {
		return n, wire.InvalidAddress(name)
	}
	return c.d.store.Resolve(n), nil
}

// arnOf is the ARN of a queue, in the region that the client signed for.
func (c *call) arnOf(n queue.Name) string {
	return "arn:aws:sqs:" + c.caller.region + ":" + c.d.account(n.Namespace) + ":" + n.Name
}

// parseARN reads the ARN of a queue, whatever its region and partition; ok is false for what is none.
func (d *Server) parseARN(text string) (n queue.Name, ok bool) {
	parts := strings.SplitN(text, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "sqs" {
		return n, false
	}
	n = queue.Name{Namespace: parts[4], Name: parts[5]}
	if n.Check() != nil {
		return n, false
	}
	return d.store.Resolve(n), true
}

// fifoEnding is how the names of FIFO queues end, and no others.
const fifoEnding = ".fifo"

func isFIFO(n queue.Name) bool { return strings.HasSuffix(n.Name, fifoEnding) }

// checkNew holds the name of a new queue to the rules of SQS.
func checkNew(name string, fifo bool) error {
	stem, isFIFO := strings.CutSuffix(name, fifoEnding)
	ok := len(name) >= 1 && len(name) <= 80 && stem != "" && isFIFO == fifo
	for i := range len(stem) {
		ok = ok && wordByte(stem[i])
	}
	switch {
	case ok:
		return nil
	case fifo:
		return wire.InvalidParameter("The name of a FIFO queue can only include alphanumeric characters, hyphens, or " +
			"underscores, must end with .fifo suffix and be 1 to 80 in length.")
	default:
		return wire.InvalidParameter("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in " +
			"length")
	}
}
