package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// sealBytes is how much of the MAC a seal carries: 80 bits can not be guessed over a network.
const sealBytes = 10

// Seal marks a text as one that was given to this user, so that what comes back can be trusted to be that text: a claim's token
// names a queue by a number that anybody could guess, a sealed one only its owner can use. A nil user seals nothing.
// Seals stay good across restarts, until the user's secret changes.
func (u *User) Seal(text string) string {
	if u == nil {
		return text
	}
	return text + "-" + u.mac(text)
}

// Unseal returns the text that Seal was given; ok is false when another user's text, or an invented one, is shown.
func (u *User) Unseal(sealed string) (text string, ok bool) {
	if u == nil {
		return sealed, true
	}
	i := strings.LastIndexByte(sealed, '-')
	if i < 0 {
		return "", false
	}
	text = sealed[:i]
	return text, hmac.Equal([]byte(sealed[i+1:]), []byte(u.mac(text)))
}

func (u *User) mac(text string) string {
	h := hmac.New(sha256.New, []byte(u.Secret.Reveal()))
	h.Write([]byte("hikyaku seal\x00" + u.Name + "\x00" + text))
	return hex.EncodeToString(h.Sum(nil)[:sealBytes])
}
