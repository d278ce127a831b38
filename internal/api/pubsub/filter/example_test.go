package filter_test

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/filter"
)

func Example() {
	f, err := filter.Parse(`attributes:lang AND NOT hasPrefix(attributes.region, "asia-")`)
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Condition(nil))
	// Output: (`lang` is not null and `region` like 'asia-%' is not true)
}

func ExampleError() {
	_, err := filter.Parse(`attributes:a AND attributes:b OR attributes:c`)
	fmt.Println(err)
	// Output: filter, byte 30: AND and OR stand beside each other; expected AND or the end of the filter (put parentheses around what belongs together)
}
