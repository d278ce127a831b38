package suspect

import (
	"cmp"
	"time"
)

// RefusedPercent of the last answers may be that the far end refuses the message. It is many: an app may have many a
// token that is none, and one of several programs may be at fault alone. A dead letter can be sent again, and an app
// that rests keeps everybody waiting.
const RefusedPercent = 50

// Watches are the two over what an app is answered: whether its devices are its own, and whether its messages are
// taken.
type Watches struct {
	Devices  *Watch
	Messages *Watch // its devices are all alike: what a message is refused for is not theirs
}

// NewWatches makes both. c is the configuration of that over devices; refused is Mistake of the other.
func NewWatches(c Config, refused func(Seen) error) Watches {
	c.Percent = cmp.Or(c.Percent, DefaultPercent)
	ws := Watches{Devices: New(c)}
	c.Percent, c.Equal, c.Mistake = max(c.Percent, RefusedPercent), true, refused
	ws.Messages = New(c)
	return ws
}

// Passes are a request's ways past both. The zero value has passed none.
type Passes struct{ Device, Message Pass }

// Enter is Watch.Enter for both, one after the other. p is to be told what became of the request also when the second
// does not let it go.
func (ws *Watches) Enter(p *Passes, device, of string, goOn func(wait time.Duration, why error)) {
	ws.Devices.Enter(&p.Device, device, of, func(wait time.Duration, why error) {
		if wait > 0 {
			goOn(wait, why)
			return
		}
		ws.Messages.Enter(&p.Message, device, of, goOn)
	})
}

// End tells both what became of the request.
func (p *Passes) End(right bool) {
	p.Device.End(right)
	p.Message.End(right)
}

// Why is for what one of them lets requests wait; nil: neither does.
func (ws *Watches) Why() error { return cmp.Or(ws.Devices.Why(), ws.Messages.Why()) }

// Close ends both.
func (ws *Watches) Close() {
	ws.Devices.Close()
	ws.Messages.Close()
}
