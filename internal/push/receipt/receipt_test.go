package receipt

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
)

func TestADeviceIsAHashThatItsOwnerCanMake(t *testing.T) {
	// printf %s 00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0 | sha256sum | cut -c1-32
	const token, want = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
		"09ff825c4a48d460b41c8bc6cded15e1"
	if got := Device(token); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Device(""); got != "" {
		t.Errorf("nobody is %q", got)
	}
}

type far string

func (f far) Error() string { return "it answered 410 " + string(f) }
func (f far) Word() string  { return string(f) }

func TestReasonsOfAKindAreTheSame(t *testing.T) {
	for _, c := range []struct {
		o    component.Outcome
		want string
	}{
		{component.OK(time.Time{}), ""},
		{component.Reject(fmt.Errorf("given up: %w", far("Shutdown"))), "Shutdown"},
		{component.Reject(far("")), "it answered 410 "},
		{component.Reject(&dead.GoneError{What: "device", Since: time.Now()}), "device gone"},
		{component.Drop(fmt.Errorf("%w at noon", component.ErrExpired)), "expired"},
		{component.Drop(component.ErrReplaced), "replaced"},
		{component.Again(0, fmt.Errorf("%w: reset", component.ErrMayDouble)), "answer lost"},
		{component.Reject(errors.New("it has no token")), "it has no token"},
	} {
		if got := Reason(c.o); got != c.want {
			t.Errorf("%v: %q, want %q", c.o.Reason, got, c.want)
		}
	}
}
