package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	lambdadoor "github.com/hikyaku/hikyaku/internal/api/lambda"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	pubsubdoor "github.com/hikyaku/hikyaku/internal/api/pubsub"
	sqsdoor "github.com/hikyaku/hikyaku/internal/api/sqs"
	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/picture"
)

// server is a door: a protocol that programs speak to us.
type server interface {
	Start(ctx context.Context) (net.Addr, error)
	Close(ctx context.Context) error
}

// openDoor is a door with its name in the configuration.
type openDoor struct {
	server
	name string
}

// doors are those that are open. Close them before the house.
type doors []openDoor

// fewFiles are fewer than an ordinary service is given.
const fewFiles = 1024

// console makes the pages of the HTTP door.
func (h *house) console(operations http.Handler, readOnly bool) http.Handler {
	return console.New(console.Config{Door: operations, ReadOnly: readOnly, Version: thisBuild().Version,
		Picture: h.picture()})
}

// picture draws the configuration that was taken last, without its secrets: once for each that is taken.
func (h *house) picture() func() *picture.Picture {
	var drawing sync.Mutex
	var of *config.File
	var drawn *picture.Picture
	return func() *picture.Picture {
		drawing.Lock()
		defer drawing.Unlock()
		now := h.secrets.Load()
		if now == of {
			return drawn
		}
		of, drawn = now, now.Picture(openDoorsOf(h.file))
		masker := now.Masker()
		for i := range drawn.Things {
			drawn.Things[i].Note = masker.Mask(drawn.Things[i].Note)
		}
		for i := range drawn.Ways {
			drawn.Ways[i].Label = masker.Mask(drawn.Ways[i].Label)
		}
		return drawn
	}
}

// consoleURL is where the pages of a door are for a browser on this machine.
func consoleURL(addr net.Addr, secure bool) string {
	host, port, err := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/console"
}

// openDoors opens every door that is not off, for a house and what runs in it; those that front has open, if it is not
// nil. After an error none is open.
func openDoors(ctx context.Context, h *house, w *works, api config.API, front *cluster.Front, log *slog.Logger) (
	open doors, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, open.close(ctx, log))
			open = nil
		}
	}()
	report := func(name string) func(error) {
		return func(err error) { log.Warn(name+" door", "error", err) }
	}
	files := machine.Files()
	if files > 0 && files < fewFiles {
		log.Warn("few files may be open: connections and puts will wait or be refused for want of them", "hint",
			moreFiles(files))
	}
	traffic, seats := map[string]*door.Traffic{}, door.SeatsFor(seatFiles(files, front))
	for _, name := range []string{"http", "mysql", "pubsub", "sqs", "lambda"} {
		traffic[name] = door.NewTraffic(name)
		traffic[name].Share(seats)
		if front != nil {
			traffic[name].From(func() (net.Listener, error) { return front.Land(name) })
		}
		if err := h.metrics.Register(traffic[name]); err != nil {
			return nil, err
		}
	}
	if front != nil {
		api.MySQL.Socket = settings.NoSocket // what comes to it, front brings as well
	}
	web, err := httpdoor.New(api.HTTP, httpdoor.Options{Audit: h.audit.of("http"),
		Store: h.storeFor("http"), Users: h.users, Metrics: h.metrics, Trace: h.trace,
		Busy: h.busy, Dead: w.deadDevices, Reload: h.readAgain, Components: w.Stats, Doors: traffic,
		Push: w.Runner, Campaigns: h.campaigns, Traffic: traffic["http"], Report: report("http"),
		Taps: h.taps, Secrets: h.masker, Console: h.console, DataDir: h.file.DataDir,
		Describe: h.describe(w), Functions: h.functions,
	})
	if err != nil {
		return nil, err
	}
	mysql, err := newMySQLDoor(api.MySQL, h, traffic["mysql"], report("mysql"))
	if err != nil {
		return nil, err
	}
	pubsub, err := pubsubdoor.New(api.PubSub, pubsubdoor.Options{
		Store: h.storeFor("pubsub"), Users: h.users, Busy: h.busy, Outbound: h.file.Outbound,
		Traffic: traffic["pubsub"], Spans: h.trace.Spans(),
		JavaScript: true, Report: report("pubsub"),
	})
	if err != nil {
		return nil, err
	}
	sqs, err := sqsdoor.New(api.SQS, sqsdoor.Options{Store: h.storeFor("sqs"), Users: h.users, Busy: h.busy,
		Traffic: traffic["sqs"], Spans: h.trace.Spans(), Report: report("sqs")})
	if err != nil {
		return nil, err
	}
	lambda, err := lambdadoor.New(api.Lambda, lambdadoor.Options{Functions: h.functions, Store: h.store,
		Users: h.users, Busy: h.busy, Outbound: h.file.Outbound, Traffic: traffic["lambda"], Report: report("lambda"),
		Audit: h.audit.of("lambda")})
	if err != nil {
		return nil, err
	}
	for _, d := range []struct {
		name   string
		door   server
		listen string
		tls    bool
		// yields: nobody said where it listens, and others use its port for their own. Then it is better closed than in
		// the way of the rest.
		yields bool
	}{
		{"mysql", mysql, api.MySQL.Listen, api.MySQL.TLS.On(), api.MySQL.Listen == ""},
		{"pubsub", pubsub, api.PubSub.Listen, api.PubSub.TLS.On(), api.PubSub.Listen == ""},
		{"sqs", sqs, api.SQS.Listen, api.SQS.TLS.On(), api.SQS.Listen == ""},
		{"lambda", lambda, api.Lambda.Listen, api.Lambda.TLS.On(), api.Lambda.Listen == ""},
		{"http", web, api.HTTP.Listen, api.HTTP.TLS.On(), false}, // the last: who finds it ready finds the others open
	} {
		if front != nil && !slices.Contains(front.Doors(), d.name) {
			continue
		}
		addr, err := d.door.Start(ctx)
		if d.yields && errors.Is(err, syscall.EADDRINUSE) {
			sayTaken(log, d.name, err)
			continue
		}
		if err != nil {
			return open, err
		}
		open = append(open, openDoor{d.door, d.name})
		if addr == nil {
			continue
		}
		h.at.note(d.name, d.listen, addr)
		log.Info("door open", "door", d.name, "address", addr.String(), "data_dir", h.file.DataDir)
		if d.name == "http" && api.HTTP.Console != "off" {
			log.Info("console", "address", consoleURL(addr, d.tls))
		}
		if tcp, ok := addr.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !d.tls {
			log.Warn("other machines can reach this door and it has no certificate: secrets and messages are "+
				"readable on the way",
				"door", d.name, "hint", "set api: "+d.name+": tls:")
		}
	}
	return open, nil
}

// seatFiles is how many of the files of a process the doors' connections share with everything else: those that wait at
// a node's front have files as well.
func seatFiles(files uint64, front *cluster.Front) uint64 {
	if front == nil || files == 0 {
		return files
	}
	return files - min(front.Files(), files/2)
}

// sayTaken says that a door stays closed because somebody has its port.
func sayTaken(log *slog.Logger, door string, err error) {
	log.Warn("this door stays closed: its port is taken, perhaps by the real service or its emulator", "door", door,
		"error", err, "hint", "set api: "+door+": listen: (or off: true)")
}

// close closes them all, at the same time: what is under way may finish until ctx is done. What is cut then is logged,
// and is no error: nobody was told that it is done.
func (ds doors) close(ctx context.Context, log *slog.Logger) error {
	var closing sync.WaitGroup
	errs := make([]error, len(ds))
	for i, d := range ds {
		closing.Go(func() {
			if errs[i] = d.Close(ctx); errors.Is(errs[i], context.DeadlineExceeded) && ctx.Err() != nil {
				log.Warn("requests were still under way when the time for stopping was over, and have been cut", "door",
					d.name)
				errs[i] = nil
			}
		})
	}
	closing.Wait()
	return errors.Join(errs...)
}
