package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/fcm"
)

// phones are the demo's far ends, and the folder with what has to be known of them.
type phones struct {
	dir    string
	apple  *apns.Server
	google *fcm.Server
}

// openPhones starts far ends whose answers take 40 ms at the median, and one in a hundred more than a quarter of a
// second.
func openPhones(dir string) (_ *phones, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	authority, err := farend.NewAuthority()
	if err != nil {
		return nil, err
	}
	key, err := apns.NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		return nil, err
	}
	account, err := fcm.NewAccount("news")
	if err != nil {
		return nil, err
	}
	late := farend.Latency{Median: farend.Duration(40 * time.Millisecond), Sigma: 0.8,
		Most: farend.Duration(2 * time.Second)}
	p := &phones{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	c := farend.Config{Authority: authority, Behaviour: farend.Behaviour{Latency: late, OneUntilTrusted: true}}
	if p.apple, err = apns.Start(apns.Config{Config: c, Keys: []*apns.Key{key},
		Topics: []string{"com.example.news"}}); err != nil {
		return nil, err
	}
	c.Behaviour.OneUntilTrusted = false
	if p.google, err = fcm.Start(fcm.Config{Config: c, Accounts: []*fcm.Account{account}}); err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{
		"authority.pem": authority.PEM, "AuthKey_KEY1234567.p8": key.PEM,
		"account-news.json": account.JSON(p.google.TokenURL()),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, fmt.Errorf("keys of the demo: %w", err)
		}
	}
	return p, nil
}

// close ends the far ends that have begun.
func (p *phones) close() error {
	var errs []error
	if p.apple != nil {
		errs = append(errs, p.apple.Close())
	}
	if p.google != nil {
		errs = append(errs, p.google.Close())
	}
	return errors.Join(errs...)
}
