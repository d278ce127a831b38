package fetch

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

func TestServersInsideAreNotAskedUnlessThatIsAllowed(t *testing.T) {
	asked := 0
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked++; io.WriteString(w, "{}") })
	policy, err := outbound.New([]string{"loopback"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewHTTP(HTTP{URL: url}, "source.", policy)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, _, err := s.Ask(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	s.client.CloseIdleConnections()
	if err := policy.Set(nil); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Ask(t.Context(), nil)
	refused := (*outbound.RefusedError)(nil)
	if _, again := component.AsRetry(err); again || !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	setting := (*component.SettingError)(nil)
	if _, err := NewHTTP(HTTP{URL: url}, "source.", policy); !errors.As(err, &setting) ||
		setting.Setting != "source.url" {
		t.Errorf("an address inside may be set: %v", err)
	}
}
