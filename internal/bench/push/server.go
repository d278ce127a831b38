package push

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// Serve is what the push bench runs in processes of their own, so that what each of them costs is known. args are
// the flags that the bench gives; for each line that it reads from in it writes a line of JSON, and it ends when in
// does.
//
//   - --kind sandbox: our far end. It writes its address first. A line is a behaviour, or anything else; the answer is
//     what it saw, which it then forgets.
//   - --kind hikyaku, go-http: a client. A line is a number of pushes, the answer what they took.
//   - --kind pipeline, direct, campaigning: a store and a pipeline whose sink pushes. A line is a trial, the answer
//     what it took.
//   - --kind posted: a pipeline, and the SQS door over its store. It writes its address first. A line is a trial, to
//     which it says that it is ready; it then expects the trial's messages through the door, and says what they took.
func Serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("serve-push", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var f pushFlags
	flags.StringVar(&f.kind, "kind", "", "what to do")
	flags.StringVar(&f.dir, "dir", "", "folder")
	flags.StringVar(&f.behave, "behave", "{}", "behaviour of the sandbox")
	flags.StringVar(&f.addr, "addr", "", "of the far end")
	flags.StringVar(&f.ca, "ca", "", "file: whom to trust")
	flags.StringVar(&f.signer, "signer", "", "file: what to sign with")
	flags.StringVar(&f.users, "users", "", "file: the database of a campaign")
	flags.BoolVar(&f.receipts, "receipts", false, "have a receipt of each push")
	flags.IntVar(&f.connections, "connections", 1, "at most")
	err := flags.Parse(args)
	if err == nil {
		err = f.serve(ctx, in, out)
	}
	if err != nil {
		return fmt.Errorf("serve-push: %w", err)
	}
	return nil
}

type pushFlags struct {
	kind, dir, behave, addr, ca, signer string
	users                               string
	connections                         int
	receipts                            bool
}

func (f *pushFlags) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	switch f.kind {
	case farSandbox:
		return f.serveSandbox(in, out)
	case harness.CaseOurs:
		return f.servePusher(ctx, newEnginePusher, in, out)
	case caseHTTP:
		return f.servePusher(ctx, newHTTPPusher, in, out)
	case kindPipeline, kindDirect, kindCampaign, kindPosted:
		return f.servePipeline(ctx, in, out)
	default:
		return fmt.Errorf("there is no kind %q", f.kind)
	}
}

// serveSandbox also leaves the files that clients need in the folder.
func (f *pushFlags) serveSandbox(in io.Reader, out io.Writer) (err error) {
	var b farend.Behaviour
	if err := json.Unmarshal([]byte(f.behave), &b); err != nil {
		return fmt.Errorf("behaviour: %w", err)
	}
	key, err := apns.NewKey(pushTeam, pushKey)
	if err != nil {
		return err
	}
	s, err := apns.Start(apns.Config{Config: farend.Config{Behaviour: b}, Keys: []*apns.Key{key},
		Topics: []string{pushTopic}, Anybody: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for name, text := range map[string][]byte{"ca.pem": s.Authority.PEM, "signer.p8": key.PEM} {
		if err := os.WriteFile(filepath.Join(f.dir, name), text, 0o600); err != nil {
			return err
		}
	}
	write := json.NewEncoder(out)
	if err := write.Encode(harness.Served{Addr: s.Addr().String()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20) // a behaviour may name many devices
	for lines.Scan() {
		if line := lines.Bytes(); len(line) > 0 && line[0] == '{' {
			var b farend.Behaviour
			if err := json.Unmarshal(line, &b); err != nil {
				return fmt.Errorf("behaviour: %w", err)
			}
			if err := s.Behave(b); err != nil {
				return err
			}
		}
		counts := s.Counts()
		s.Forget()
		if err := write.Encode(counts); err != nil {
			return err
		}
	}
	return lines.Err()
}

// pushed is what became of pushes; our Java programs say the same.
type pushed struct {
	N         int   `json:"n"`
	Failed    int   `json:"failed"`
	Dead      int   `json:"dead,omitempty"` // devices that the sink remembers as gone, of all trials
	ElapsedUS int64 `json:"elapsed_us"`
	CPUUS     int64 `json:"cpu_us"` // of the process
	// of the store's journal, while pushes were settled; told by a direct pipeline alone
	Syncs uint64 `json:"syncs,omitempty"`
	// to each user's answer, from when the first message of all was dequeued
	TimesUS []int64 `json:"times_us,omitempty"`
	OwnUS   []int64 `json:"own_us,omitempty"` // likewise, from when the user's own was
}

func (p *pushed) elapsed() time.Duration { return time.Duration(p.ElapsedUS) * time.Microsecond }

// mostSettled is how many pushes the source of a direct pipeline settles at once; it settles the next ones when these
// are durable.
const mostSettled = 1000

// checkSettled fails when there were fewer syncs than settlements of these pushes that wait for each other.
func (p *pushed) checkSettled(name string) error {
	return harness.CheckSyncs(name, int64(p.N), mostSettled, p.Syncs)
}

func (p *pushed) perSecond() float64 { return float64(p.N) / p.elapsed().Seconds() }

// servePusher does slices of pushes.
func (f *pushFlags) servePusher(ctx context.Context, open func(addr, ca, signer string) (pusher, error), in io.Reader,
	out io.Writer) (err error) {
	p, err := open(f.addr, f.ca, f.signer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	write := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		n, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			return err
		}
		cpu, start := machine.ProcessorTime(), time.Now()
		failed, err := p.push(ctx, n)
		if err != nil {
			return err
		}
		took := pushed{N: n, Failed: failed, ElapsedUS: time.Since(start).Microseconds(),
			CPUUS: (machine.ProcessorTime() - cpu).Microseconds()}
		if err := write.Encode(took); err != nil {
			return err
		}
	}
	return lines.Err()
}
