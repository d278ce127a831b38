package console

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/hikyaku/hikyaku/internal/caller"
)

// fromEnd is a connection of which all is known.
type fromEnd struct {
	net.Conn
	end *caller.End
}

func (c fromEnd) LocalAddr() net.Addr { return &caller.Addr{End: c.end} }

func TestAPageIsSharedAmongThoseOfTheSameRightsAlone(t *testing.T) {
	request := func(end *caller.End, secret string) *http.Request {
		ctx := caller.In(context.Background(), fromEnd{end: end})
		r, err := http.NewRequestWithContext(ctx, "GET", "/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if secret != "" {
			r.Header.Set("Authorization", secret)
		}
		return r
	}
	seen := map[string]string{}
	for name, r := range map[string]*http.Request{
		"an account": request(caller.Told(true, 1000, nil), ""), "another": request(caller.Told(true, 1001, nil), ""),
		"root": request(caller.Told(true, 0, nil), ""), "from elsewhere": request(caller.Told(false, 0, nil), ""),
		"a user":       request(caller.Told(true, 1000, nil), "Basic YTpi"),
		"another user": request(caller.Told(true, 1000, nil), "Basic YTpj"),
	} {
		key, ok := whose(r)
		if other := seen[key]; !ok || other != "" {
			t.Errorf("%s has the pages of %q (%v)", name, other, ok)
		}
		seen[key] = name
	}
	if key, ok := whose(request(caller.Told(true, 0, errors.New("it is not told")), "")); ok {
		t.Errorf("somebody unknown has the pages of %q", key)
	}
}
