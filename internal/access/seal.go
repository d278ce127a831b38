package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// sealBytes is how much of the MAC a seal carries: 80 bits can not be guessed over a network.
const sealBytes = 10

// Seal marks a text as one that was given to this user, so that what comes back can be trusted to be that text: a
// claim's token names a queue by a number that anybody could guess, a sealed one only its owner can use. A nil user
// seals nothing. Seals stay good across restarts, as long as the user has the secret, or the hash, that came first when
// they were made.
func (u *User) Seal(text string) string {
	if u == nil {
		return text
	}
	return text + "-" + u.mac(u.sealing(0), text)
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
	for k := range max(len(u.keys), 1) {
		if hmac.Equal([]byte(sealed[i+1:]), []byte(u.mac(u.sealing(k), text))) {
			return text, true
		}
	}
	return text, false
}

// sealing is what a seal is made with.
func (u *User) sealing(k int) string {
	if k < len(u.keys) {
		return u.keys[k].text()
	}
	return u.Secret.Reveal()
}

func (u *User) mac(key, text string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte("hikyaku seal\x00" + u.Name + "\x00" + text))
	return hex.EncodeToString(h.Sum(nil)[:sealBytes])
}
