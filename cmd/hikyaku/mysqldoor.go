//go:build !no_mysql

package main

import (
	"context"
	"net"

	mysqldoor "github.com/hikyaku/hikyaku/internal/api/mysql"
	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/door"
)

// leftOut are the doors that this program was built without.
var leftOut []string

func newMySQLDoor(c settings.Config, h *house, traffic *door.Traffic, report func(error)) (server, error) {
	return mysqldoor.New(c, mysqldoor.Options{Store: h.storeFor("mysql"), Users: h.users, Busy: h.busy,
		Traffic: traffic, Report: report})
}

// listenMySQL listens on the MySQL door's socket in the file system; nil: there is none. One that nobody asked for is
// left out where it cannot be made or is another's.
func listenMySQL(ctx context.Context, c settings.Config) (net.Listener, error) {
	switch c.Socket {
	case settings.NoSocket:
		return nil, nil
	case "":
		if l, err := link.ListenSocket(ctx, settings.DefaultSocket); err == nil {
			return l, nil
		}
		return nil, nil
	}
	return link.ListenSocket(ctx, c.Socket)
}
