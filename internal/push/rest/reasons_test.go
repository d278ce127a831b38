package rest

import (
	"errors"
	"strings"
	"testing"
)

func TestAllThatWaitAreNamedAsFarAsThereIsRoom(t *testing.T) {
	errRests := errors.New("app a rests: look at its topic")
	long := strings.Repeat("n", namesBytes)
	for says, waiting := range map[string][]string{
		"":               nil,
		errRests.Error(): {"a"},
		"2 apps wait: a and b; the first: " + errRests.Error():            {"a", "b"},
		"3 apps wait: a, b and c; the first: " + errRests.Error():         {"a", "b", "c"},
		"5 apps wait: a, b, c and 2 more; the first: " + errRests.Error(): {"a", "b", "c", "d", "e"},
		"3 apps wait: a and 2 more; the first: " + errRests.Error():       {"a", "b" + long, "c" + long},
	} {
		all := map[string]error{"0": nil, "bb": nil, "z": nil}
		for _, name := range waiting {
			all[name] = errors.New("another reason")
		}
		if len(waiting) > 0 {
			all["a"] = errRests
		}
		got := Reasons("app", all, func(why error) error { return why })
		if len(waiting) == 0 {
			if got != nil {
				t.Errorf("nobody waits: %v", got)
			}
			continue
		}
		if got == nil || got.Error() != says || !errors.Is(got, errRests) {
			t.Errorf("%v, want %s", got, says)
		}
	}
}
