package sqs

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// roundTrip keeps an attribute as a message does, and shows it again.
func roundTrip(a wire.Attribute) (wire.Attribute, bool) {
	v, exact := valueOf(&a)
	var kept typeLines
	if !exact {
		kept.add(&a)
	}
	got, ok := shown(a.Name, v)
	kept.apply(&got, v)
	return got, ok
}

func TestAnyAttributeComesBackAsItWasSent(t *testing.T) {
	number := rapid.StringMatching(`[+-]?[0-9]{1,22}(\.[0-9]{0,5})?([eE][+-]?[0-9]{1,2})?`).Filter(validNumber)
	rapid.Check(t, func(t *rapid.T) {
		a := wire.Attribute{Name: rapid.StringMatching(`[a-zA-Z0-9_-]{1,10}`).Draw(t, "name")}
		ending := rapid.SampledFrom([]string{"", ".x", ".eur", ".a.b"}).Draw(t, "ending")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			a = wire.TextAttribute(a.Name, sqsattr.String+ending, rapid.StringMatching(`[ -~あ-ん\n]{1,20}`).Draw(t, "text"))
		case 1:
			a = wire.TextAttribute(a.Name, sqsattr.Number+ending, number.Draw(t, "number"))
		default:
			a = wire.BinaryAttribute(a.Name, sqsattr.Binary+ending,
				rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "bytes"))
		}
		got, ok := roundTrip(a)
		if !ok || got.Name != a.Name || got.DataType != a.DataType || got.Text != a.Text || got.HasText != a.HasText ||
			string(got.Binary) != string(a.Binary) {
			t.Fatalf("%+v comes back as %+v", a, got)
		}
	})
}

func TestNumbersThatSQSTakes(t *testing.T) {
	for _, s := range []string{"0", "-0", "+5", "7", "007", "-12.50", ".5", "5.", "1e3", "1E-5", "1e126",
		strings.Repeat("9", 38), "0." + strings.Repeat("0", 100) + "1", strings.Repeat("1", 38) + "000"} {
		if !validNumber(s) {
			t.Errorf("%q is no number", s)
		}
	}
	for _, s := range []string{"", ".", "-", "+-5", "--5", "1e", "e5", "1.2.3", "0x10", "1_000", "NaN", "Inf", " 5",
		"5 ", strings.Repeat("9", 39), "1e127", "1e999", "1e-129", "一"} {
		if validNumber(s) {
			t.Errorf("%q is a number", s)
		}
	}
}

func TestAValueThatWasChangedSinceIsShownAsItIs(t *testing.T) {
	a := wire.TextAttribute("n", "Number.eur", "007")
	var kept typeLines
	kept.add(&a)
	got, _ := shown("n", message.Int(8))
	kept.apply(&got, message.Int(8))
	if got.DataType != sqsattr.Number || got.Text != "8" {
		t.Errorf("it is shown as %+v", got)
	}
	got, _ = shown("n", message.Bytes([]byte("x")))
	kept.apply(&got, message.Bytes([]byte("x")))
	if got.DataType != sqsattr.Binary {
		t.Errorf("it is shown as %+v", got)
	}
}

func TestAReceiptIsReadAsItWasWrittenAndForItsQueueAlone(t *testing.T) {
	rs := newReceipts()
	rapid.Check(t, func(t *rapid.T) {
		n := queue.Name{Namespace: "default", Name: rapid.StringMatching(`[a-z]{1,80}`).Draw(t, "queue")}
		rc := receipt{
			token: queue.Token{
				Queue: rapid.Uint32().Draw(t, "id"), Sequence: rapid.Uint64().Draw(t, "sequence"),
				Serial: rapid.Uint32().Draw(t, "serial"), Epoch: rapid.Uint32().Draw(t, "epoch"),
			},
			received: time.UnixMilli(rapid.Int64Range(0, 1<<45).Draw(t, "received")),
			attempt:  rapid.Uint32().Draw(t, "attempt"), id: rapid.Uint64().Draw(t, "message"),
		}
		text := rs.handle(n, &rc)
		if got, ok := rs.read(n, text); !ok || got != rc {
			t.Fatalf("%+v is read as %+v, %v", rc, got, ok)
		}
		if _, ok := rs.read(queue.Name{Namespace: "default", Name: n.Name + "x"}, text); ok {
			t.Fatal("it is good at another queue")
		}
		b := []byte(text)
		i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		if b[i]++; b[i] == '{' {
			b[i] = '-'
		}
		if _, ok := rs.read(n, string(b)); ok {
			t.Fatal("it is good after a change")
		}
	})
}

func FuzzReceipt(f *testing.F) {
	rs := newReceipts()
	f.Add(rs.handle(news, &receipt{received: time.UnixMilli(1)}))
	f.Add("")
	f.Add(strings.Repeat("A", 64))
	f.Fuzz(func(t *testing.T, text string) {
		if rc, ok := rs.read(news, text); ok && rs.handle(news, &rc) != text {
			t.Errorf("%q and %q are one receipt", text, rs.handle(news, &rc))
		}
	})
}

func FuzzTypeLines(f *testing.F) {
	f.Add("a=String.x\nb=Number.eur=007\n", "b", "7")
	f.Add("=\n==\n", "", "")
	f.Fuzz(func(t *testing.T, lines, name, text string) {
		a, _ := shown(name, message.String(text))
		was := a
		typeLines(lines).apply(&a, message.String(text))
		if a.Text != was.Text && sqsattr.Base(a.DataType) != sqsattr.Number {
			t.Errorf("%q became %q", was.Text, a.Text)
		}
	})
}

func FuzzQueueURL(f *testing.F) {
	for _, s := range []string{"http://localhost:9324/000000000000/news", "news", "/a/b", "http://x",
		"/000000000000/new%73", "%", "a/b/c?d#e", "http:///"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := splitURL(text, "mine")
		if err == nil && n.Check() != nil {
			t.Errorf("%q names %q, which is no name", text, n)
		}
		if err != nil {
			return
		}
		again, err := splitURL("http://x/"+escaped(n.Namespace)+"/"+escaped(n.Name), "")
		if err != nil || again != n {
			t.Errorf("the URL of %q names %q, %v", n, again, err)
		}
	})
}
