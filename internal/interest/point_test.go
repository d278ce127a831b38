package interest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestImagesNeverTurnAnOrderRound(t *testing.T) {
	for _, view := range []condition.View{condition.AsIs, condition.AsNumber, condition.AsInstant, condition.AsText} {
		var keys []message.Value
		for _, v := range samples {
			if k, ok := view.Key(v); ok {
				keys = append(keys, k)
			}
		}
		slices.SortFunc(keys, condition.CompareKeys)
		for i, k := range keys {
			if image := condition.Image(k); image == before {
				t.Errorf("%s: the image of %#v is that of no end", view, k)
			} else if i > 0 && image < condition.Image(keys[i-1]) {
				t.Errorf("%s: the image of %#v comes before that of %#v", view, k, keys[i-1])
			}
		}
	}
}

func TestNoTwoListsOfKeysAreWrittenAlike(t *testing.T) {
	pool := append([]message.Value{message.String("\x00"), message.String("a\x05b"), message.Int(5), message.Float(5.5),
		message.Uint(1 << 63)}, samples...)
	rapid.Check(t, func(t *rapid.T) {
		var lists [2][]message.Value
		var texts [2][]byte
		for i := range lists {
			for _, v := range rapid.SliceOfN(rapid.SampledFrom(pool), 0, 3).Draw(t, "values") {
				if k, ok := condition.AsIs.Key(v); ok {
					lists[i], texts[i] = append(lists[i], k), appendKey(texts[i], k)
				}
			}
		}
		if slices.Equal(lists[0], lists[1]) != (string(texts[0]) == string(texts[1])) {
			t.Fatalf("%#v and %#v are written as %x and %x", lists[0], lists[1], texts[0], texts[1])
		}
	})
}
