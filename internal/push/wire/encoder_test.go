package wire

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
	"pgregory.net/rapid"
)

// decode decodes a block as the far end does.
func decode(t interface{ Fatalf(string, ...any) }, d *hpack.Decoder, block []byte) []hpack.HeaderField {
	fields, err := d.DecodeFull(block)
	if err != nil {
		t.Fatalf("%v: % x", err, block)
	}
	return fields
}

func TestBlocksSayWhatWasPutIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, d := NewEncoder(), hpack.NewDecoder(DefaultTableSize, nil)
		name := rapid.OneOf(rapid.SampledFrom([]string{"authorization", "content-length", "content-type", "apns-topic",
			"apns-id", "x"}), rapid.StringMatching(`[a-z-]{1,20}`))
		value := rapid.OneOf(rapid.SampledFrom([]string{"", "1", "10", "alert", strings.Repeat("v", 300),
			strings.Repeat("w", 1500), strings.Repeat("z", 2500)}), rapid.StringMatching(`[ -~]{0,40}`))
		for range rapid.IntRange(1, 60).Draw(t, "blocks") {
			if rapid.IntRange(0, 9).Draw(t, "resize") == 0 {
				for range rapid.IntRange(1, 3).Draw(t, "sizes") {
					n := rapid.SampledFrom([]uint32{0, 1, 100, 1000, 4096, 65536}).Draw(t, "size")
					d.SetAllowedMaxDynamicTableSize(n)
					e.SetTableSize(n)
				}
			}
			var want []hpack.HeaderField
			method := rapid.SampledFrom([]string{"POST", "GET", "PUT"}).Draw(t, "method")
			path := "/" + rapid.StringMatching(`[a-f0-9]{0,64}`).Draw(t, "path")
			block := e.Begin(nil, method, true, "example.org", path)
			bound := BeginBound(method, "example.org", path)
			for range rapid.IntRange(0, 8).Draw(t, "fields") {
				f := hpack.HeaderField{Name: name.Draw(t, "name"), Value: value.Draw(t, "value"),
					Sensitive: rapid.IntRange(0, 4).Draw(t, "sensitive") == 0}
				block = e.Field(block, f.Name, f.Value, f.Sensitive)
				bound += Bound(f.Name, f.Value)
				want = append(want, f)
			}
			if len(block) > bound {
				t.Fatalf("a block of %d bytes is over its bound of %d", len(block), bound)
			}
			got := decode(t, d, block)
			for i, f := range []string{":method", method, ":scheme", "https", ":authority", "example.org", ":path",
				path} {
				if have := []string{got[i/2].Name, got[i/2].Value}[i%2]; have != f {
					t.Fatalf("%q, want %q", have, f)
				}
			}
			if fmt.Sprint(got[4:]) != fmt.Sprint(want) {
				t.Fatalf("%v, want %v", got[4:], want)
			}
		}
	})
}

func TestWhatRepeatsCostsOneByteFromTheThirdTimeOn(t *testing.T) {
	e := NewEncoder()
	var sizes []int
	for i := range 4 {
		block := e.Begin(nil, "POST", true, "api.push.apple.com", fmt.Sprintf("/3/device/%064d", i))
		block = e.Field(block, "apns-topic", "org.example.news", false)
		block = e.Field(block, "apns-push-type", "alert", false)
		block = e.Field(block, "apns-id", fmt.Sprintf("%036d", i), false)
		sizes = append(sizes, len(block))
	}
	if sizes[2] != sizes[3] || sizes[3] > 1+1+1+77+1+1+1+46 {
		t.Errorf("blocks of %v bytes", sizes)
	}
}

func TestSecretsNeverEnterATable(t *testing.T) {
	e, d := NewEncoder(), hpack.NewDecoder(DefaultTableSize, nil)
	for range 3 {
		block := e.Begin(nil, "POST", true, "a", "/")
		n := len(block)
		block = e.Field(block, "authorization", "bearer secret", true)
		if len(block)-n < len("bearer secret") {
			t.Error("it was indexed")
		}
		for _, f := range decode(t, d, block) {
			if f.Name == "authorization" && !f.Sensitive {
				t.Error("it is not marked as a secret for those between")
			}
		}
	}
}

func TestWhatDoesNotRepeatPushesNothingOutOfTheTable(t *testing.T) {
	e := NewEncoder()
	block := func(i int) int {
		b := e.Begin(nil, "POST", true, "a", "/")
		b = e.Field(b, "apns-topic", "org.example.news", false)
		b = e.Field(b, "apns-collapse-id", fmt.Sprintf("%064d", i), false)
		return len(b)
	}
	for i := range 3 {
		block(i)
	}
	want := block(3)
	for i := range 10_000 {
		if got := block(i + 4); got != want {
			t.Fatalf("block %d has %d bytes, before it had %d", i, got, want)
		}
	}
}

func BenchmarkEncoder(b *testing.B) {
	e := NewEncoder()
	paths := make([]string, 1000)
	for i := range paths {
		paths[i] = fmt.Sprintf("/3/device/%064d", i)
	}
	var buf []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		buf = e.Begin(buf[:0], "POST", true, "api.push.apple.com", paths[i%1000])
		buf = e.Field(buf, "authorization", "bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyMzQ1NjcifQ", true)
		buf = e.Field(buf, "apns-topic", "org.example.news", false)
		buf = e.Field(buf, "apns-push-type", "alert", false)
		buf = e.Field(buf, "apns-priority", "10", false)
		buf = e.Field(buf, "content-length", "100", false)
	}
}
