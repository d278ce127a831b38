package wire

import (
	"crypto/md5"
	"encoding/hex"
	"testing"
)

func TestSumsAreTheDocumentedOnes(t *testing.T) {
	sum := func(parts ...string) string {
		h := md5.New()
		for _, p := range parts {
			h.Write([]byte(p))
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	for name, c := range map[string]struct {
		attributes []Attribute
		want       string
	}{
		"none": {nil, ""},
		"string": {[]Attribute{TextAttribute("a", "String", "é")},
			sum("\x00\x00\x00\x01a\x00\x00\x00\x06String\x01\x00\x00\x00\x02é")},
		"number": {[]Attribute{TextAttribute("n", "Number.int", "-4")},
			sum("\x00\x00\x00\x01n\x00\x00\x00\x0aNumber.int\x01\x00\x00\x00\x02-4")},
		"binary": {[]Attribute{BinaryAttribute("b", "Binary", []byte{0, 1})},
			sum("\x00\x00\x00\x01b\x00\x00\x00\x06Binary\x02\x00\x00\x00\x02\x00\x01")},
		"empty": {[]Attribute{BinaryAttribute("b", "Binary", nil)},
			sum("\x00\x00\x00\x01b\x00\x00\x00\x06Binary\x02\x00\x00\x00\x00")},
		"in the order of names": {
			[]Attribute{TextAttribute("b", "String", "2"), TextAttribute("a", "String", "1")},
			sum("\x00\x00\x00\x01a\x00\x00\x00\x06String\x01\x00\x00\x00\x011",
				"\x00\x00\x00\x01b\x00\x00\x00\x06String\x01\x00\x00\x00\x012"),
		},
		// Recorded from the service: a message with an attribute timestamp of 1493147359900.
		"a Number of the service": {[]Attribute{TextAttribute("timestamp", "Number", "1493147359900")},
			"235c5c510d26fb653d073faed50ae77c"},
	} {
		if got := MD5OfAttributes(c.attributes); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	unordered := []Attribute{TextAttribute("b", "String", "2"), TextAttribute("a", "String", "1")}
	MD5OfAttributes(unordered)
	if unordered[0].Name != "b" {
		t.Error("the attributes were changed")
	}
	if got := MD5OfBody([]byte("message")); got != "78e731027d8fd50ed642340b7c9a63b3" {
		t.Errorf("got %s", got)
	}
}
