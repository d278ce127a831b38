package condition_test

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

type values []message.Value

func (v values) Slot(i int) message.Value { return v[i] }

func Example() {
	columns, err := message.ParseColumns([]string{"enqueued_at int unsigned not null", "lang varchar(2)"})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := condition.Parse("enqueued_at >= 1501686146 and lang = 'ja'")
	if err != nil {
		fmt.Println(err)
		return
	}
	bound := e.Bind(columns.Lookup)
	fmt.Println(bound.Match(values{message.Int(1501686147), message.String("ja")}))
	fmt.Println(bound.Match(values{message.Int(1501686147), message.Null()}))
	// Output:
	// true
	// false
}

func ExampleExpr_Check() {
	e, err := condition.Parse("enqueued_at >= 1501686146 and lnag = 'ja'")
	if err != nil {
		fmt.Println(err)
		return
	}
	columns := []string{"enqueued_at", "lang"}
	known := func(name string) bool { return name == columns[0] || name == columns[1] }
	var wrong *condition.Error
	if errors.As(e.Check(known, columns), &wrong) {
		fmt.Println(wrong.Pretty())
	}
	// Output:
	// unknown name "lnag"
	//     enqueued_at >= 1501686146 and lnag = 'ja'
	//                                   ^ did you mean "lang"?
}

func ExampleExpr_Plan() {
	e, err := condition.Parse("lang = 'ja' and enqueued_at >= 1501686146 and length(body) > 10")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := e.Plan()
	for _, branch := range plan.Branches {
		for _, equal := range branch.Equal {
			fmt.Println("equal:", equal.Name, equal.Key.Text())
		}
		fmt.Println("range:", branch.Range.Name, "from", branch.Range.Low.Key.Text())
	}
	fmt.Println("residue:", plan.Residue)
	// Output:
	// equal: lang ja
	// range: enqueued_at from 1501686146
	// residue: length(body) > 10
}
