//go:build !no_mysql

package main

import (
	mysqldoor "github.com/hikyaku/hikyaku/internal/api/mysql"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/door"
)

// leftOut are the doors that this program was built without.
var leftOut []string

func newMySQLDoor(c settings.Config, h *house, traffic *door.Traffic, report func(error)) (server, error) {
	return mysqldoor.New(c, mysqldoor.Options{Store: h.store, Users: h.users, Busy: h.busy, Traffic: traffic,
		Report: report})
}
