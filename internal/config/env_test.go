package config

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/pace"
)

// TestAComponentIsMadeWithAllThatTheyShare: a field of Env that is new reaches each of them, too.
func TestAComponentIsMadeWithAllThatTheyShare(t *testing.T) {
	f, err := Parse("/somewhere/a.yaml", []byte("sources: { a: { type: stdin } }\nsinks: { b: { type: stdout, "+
		"inputs: [a] } }\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	base := component.Env{Stdin: new(bytes.Buffer), Stdout: new(bytes.Buffer), Pacer: new(pace.Host),
		Campaigns: new(campaign.Registry), Busy: door.NewBusy(1), Functions: &struct{ component.Functions }{}}
	env := reflect.ValueOf(f.within(base, f.parts[0], &struct{ queue.Service }{}))
	for i := range env.NumField() {
		if env.Field(i).IsZero() {
			t.Errorf("%s is not there", env.Type().Field(i).Name)
		}
	}
}
