package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/macro/page"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

// DefaultListen is where the page is served unless something else is said: on loopback, at the port that the page's
// forerunner had.
const DefaultListen = "127.0.0.1:8080"

// Page is where and with what the page is served.
type Page struct {
	Listen string   // "": DefaultListen
	Hosts  []string // names that it may be called by, besides localhost and addresses
	Text   string   // what stands in it at first
}

// Serve serves the page until ctx ends, and then lets go of everything. It says where the page is when it can be
// opened.
func Serve(ctx context.Context, p Page, o Options) error {
	if p.Listen == "" {
		p.Listen = DefaultListen
	}
	pads, err := play.Keep(o.Devices, []int{1, 2})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", p.Listen)
	if err != nil {
		return errors.Join(fmt.Errorf("the page: %w; --listen names another address, as in --listen 127.0.0.1:8081",
			err), pads.Close())
	}
	if o.Rate.IsZero() {
		o.Rate = pace.NTSC()
	}
	handler := page.New(page.Config{
		Rate: o.Rate, Hosts: p.Hosts, Text: p.Text, Title: strings.Join(o.Devices, " and ") + " at " + o.Rate.String(),
		Start: func(ctx context.Context, s *macro.Script, progress func(pace.Progress)) (*pace.Run, error) {
			return pads.Start(ctx, o.Host, play.Job{Script: s, Rate: o.Rate, Progress: progress})
		},
	})
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintf(o.Out, "Macros are played at http://%s/ on %s. Ctrl-C ends it.\n", listener.Addr(),
		strings.Join(o.Devices, " and "))
	if !onLoopback(listener.Addr()) {
		fmt.Fprintln(o.Out, "Everybody who reaches this address can press buttons.")
	}
	select {
	case <-ctx.Done():
		err = nil
	case err = <-ended:
		ended <- err
	}
	handler.Close()
	server.Close()
	<-ended
	return errors.Join(err, pads.Close())
}

func onLoopback(a net.Addr) bool {
	at, err := netip.ParseAddrPort(a.String())
	return err == nil && at.Addr().IsLoopback()
}
