package access

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ErrExposed says that a door without users would listen where others can reach it.
var ErrExposed = errors.New("refusing to listen beyond loopback without users")

// CheckDoor checks where a door listens, usual being where it does unless told otherwise, and its certificate. What is
// wrong with them is told as bad, the door's own error; that strangers could come in is ErrExposed.
func CheckDoor(bad error, listen, usual string, t TLS, hasUsers bool) error {
	if setting, err := CheckAddress(listen, usual, t); err != nil {
		return fmt.Errorf("%w: %s: %w", bad, setting, err)
	}
	return CheckListen(listen, hasUsers, t.On())
}

// CheckAddress checks the form of what CheckDoor does, and tells which setting is wrong.
func CheckAddress(listen, usual string, t TLS) (setting string, err error) {
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "listen", fmt.Errorf("%q is not host:port (%s is the default)", listen, usual)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "listen", fmt.Errorf("%q has no port from 0 to 65535 (%s is the default)", listen, usual)
	}
	if (t.Cert == "") != (t.Key == "") {
		return "tls", errors.New("needs both cert: and key:, the files of a PEM certificate and its key")
	}
	return "", nil
}

// CheckListen refuses an address at which strangers could come in: without users, everything but loopback and sockets
// of the file system (unix:PATH or a path). hasTLS only changes the advice: encryption does not tell who comes.
func CheckListen(addr string, hasUsers, hasTLS bool) error {
	if hasUsers || Loopback(addr) {
		return nil
	}
	advice := "add users: with a secret each"
	if !hasTLS {
		advice += ", and a tls: certificate so that secrets are not readable on the way"
	}
	return fmt.Errorf("%w: %s can be reached from other machines (listen on 127.0.0.1, or %s)", ErrExposed, shown(addr),
		advice)
}

func shown(addr string) string {
	if host, port, err := net.SplitHostPort(addr); err == nil && host == "" {
		return "every address, port " + port + ","
	}
	return addr
}

// Loopback tells whether only this machine can reach the address: "localhost:…", an address of the loopback network, or
// a socket in the file system. Other host names do not count, whatever they resolve to now.
func Loopback(addr string) bool {
	if strings.HasPrefix(addr, "unix:") || strings.HasPrefix(addr, "/") || strings.HasPrefix(addr, "@") {
		return true
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	return LoopbackHost(host)
}

// LoopbackHost is Loopback for a host without a port.
func LoopbackHost(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") || strings.EqualFold(host, "localhost.") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
