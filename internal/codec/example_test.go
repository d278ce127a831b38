package codec_test

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
)

func ExampleDecoder_Decode() {
	d, err := codec.New(codec.Config{
		Codec:      "csv",
		Columns:    []string{"at", "level", "text"},
		Types:      map[string]string{"at": "timestamp", "level": "int"},
		Attributes: []string{"level"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := d.Decode(&message.Message{Body: []byte(`2026-01-02T03:04:05Z,3,"disk full, again"`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", out.Body)
	level, _ := out.Attributes.Get("level")
	fmt.Println("level:", level.AsInt())

	_, err = d.Decode(&message.Message{Body: []byte(`2026-01-02T03:04:05Z,high,x`)})
	fmt.Println(err)
	// Output:
	// {"at":"2026-01-02T03:04:05Z","level":3,"text":"disk full, again"}
	// level: 3
	// csv: field "level": character 22: "high" is no integer (mend what writes it, or give the field the type string)
}

// Each file has its own header: the source makes a Decoder for each of a shared one.
func ExampleDecoder_WithHeader() {
	shared, err := codec.New(codec.Config{Codec: "csv", Header: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, lines := range [][]string{{"name,age", "飛脚太郎,31"}, {"age,city", "31,大阪"}} {
		d := shared
		for _, line := range lines {
			if d.NeedsHeader() {
				if d, err = d.WithHeader([]byte(line)); err != nil {
					fmt.Println(err)
					return
				}
				continue
			}
			out, err := d.Decode(&message.Message{Body: []byte(line)})
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%s\n", out.Body)
		}
	}
	// Output:
	// {"name":"飛脚太郎","age":"31"}
	// {"age":"31","city":"大阪"}
}
