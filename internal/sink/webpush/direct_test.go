package webpush

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestADirectPushIsAnsweredWithTheAddressOfItsMessage(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	sub := f.subscribe(t)
	msgs := []*message.Message{to(sub), to(sub, "urgency", "nonsense")}
	begun := false
	got := component.SendDirect(t.Context(), s, msgs, time.Now().Add(time.Minute), func() { begun = true })
	if got[0].Verdict != component.Delivered || !strings.Contains(got[0].Name, "/message/") || !begun {
		t.Errorf("%+v", got[0])
	}
	if got[1].Verdict != component.Rejected || got[1].Name != "" {
		t.Errorf("%+v", got[1])
	}
}
