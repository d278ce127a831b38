package push

import (
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// mostShown is how many bytes of what a far end said are shown.
const mostShown = 200

// Shown makes a text of a far end fit for a log and for a dead letter: on one line, without what could
// steer a terminal, and at most 200 bytes of it, with … behind where there was more.
func Shown[T string | []byte](text T) string {
	said := string(text[:min(len(text), 4*mostShown)])
	said = strings.Join(strings.Fields(strings.ToValidUTF8(said, "\uFFFD")), " ")
	said = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, said)
	return message.Shorten(said, mostShown)
}
