//go:build no_mysql

package main

import (
	"context"
	"fmt"
	"net"

	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/door"
)

// leftOut are the doors that this program was built without.
var leftOut = []string{"mysql"}

// newMySQLDoor makes a door that stays closed. Who says where the door has to listen is told that it is not there.
func newMySQLDoor(c settings.Config, _ *house, _ *door.Traffic, _ func(error)) (server, error) {
	if c.Wanted() {
		return nil, fmt.Errorf("%w: listen is %q and socket %q, and this program was built without the MySQL door: "+
			"take them out, or build the program without the tag no_mysql", settings.ErrConfig, c.Listen, c.Socket)
	}
	return noDoor{}, nil
}

// noDoor is a door that is not there.
type noDoor struct{}

func (noDoor) Start(context.Context) (net.Addr, error) { return nil, nil }
func (noDoor) Close(context.Context) error             { return nil }

func listenMySQL(context.Context, settings.Config) (net.Listener, error) { return nil, nil }
