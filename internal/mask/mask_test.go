package mask

import (
	"strings"
	"testing"
)

func TestASecretThatCouldBeAWordIsOneOnlyWhereItStandsAlone(t *testing.T) {
	m := New(Secret{Text: "prod", Shown: "********"}, Secret{Text: "飛脚飛脚", Shown: "####"})
	for text, want := range map[string]string{
		"user producer":                 "user producer",
		"user prod_1 of reprod":         "user prod_1 of reprod",
		"prod: prod, \"prod\" (prod)":   "********: ********, \"********\" (********)",
		"Authorization: Bearer prod":    "Authorization: Bearer ********",
		"https://prod@host/prod?k=prod": "https://********@host/********?k=********",
		"prod2":                         "prod2",
		"a飛脚飛脚":                         "a飛脚飛脚",
		"a 飛脚飛脚.":                       "a ####.",
		"":                              "",
	} {
		if got := m.Mask(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestEveryOtherSecretIsTakenOutWhereverItStands(t *testing.T) {
	long := "correcthorsebatterystaple" // letters alone, and too long for a word
	m := New(Secret{Text: "s3cr", Shown: "*"}, Secret{Text: "pass-word", Shown: "${P}"}, Secret{Text: long, Shown: "+"},
		Secret{Text: "tab\there", Shown: "T"}, Secret{Text: "one", Shown: "never"})
	for text, want := range map[string]string{
		"xs3cry":              "x*y",
		"mypass-wordy":        "my${P}y",
		"x" + long + "y":      "x+y",
		`"tab\there"`:         `"T"`,
		"one":                 "one",
		"s3crs3cr":            "**",
		"s3cr then pass-word": "* then ${P}",
	} {
		if got := m.Mask(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestNothingIsLeftOfALongerSecretThatHasAShorterOneInIt(t *testing.T) {
	for _, m := range []Masker{
		New(Secret{Text: "abc1", Shown: "*"}, Secret{Text: "abc1-rest-of-it", Shown: "**"}),
		New(Secret{Text: "abc1-rest-of-it", Shown: "**"}, Secret{Text: "abc1", Shown: "*"}),
	} {
		if got := m.Mask("is abc1-rest-of-it, and abc1"); got != "is **, and *" {
			t.Error(got)
		}
	}
	// They overlap: all of both goes.
	if got := New(Secret{Text: "12345", Shown: "*"},
		Secret{Text: "45678", Shown: "+"}).Mask("x12345678y"); got != "x*y" {
		t.Error(got)
	}
	// What is shown for one is not looked through for another.
	if got := New(Secret{Text: "KEY1", Shown: "*"},
		Secret{Text: "value-1", Shown: "${KEY1}"}).Mask("value-1"); got != "${KEY1}" {
		t.Error(got)
	}
}

func TestAShortSecretIsLookedForOnlyWhereThatIsAsked(t *testing.T) {
	text := "secret: abc, abcd, 1bc"
	if got := New(Secret{Text: "abc"}, Secret{Text: "1bc"}).Mask(text); got != text {
		t.Error(got)
	}
	if got := New(Secret{Text: "abc", Shown: "***", Always: true},
		Secret{Text: "1bc", Shown: "+", Always: true}).Mask(text); got != "secret: ***, abcd, +" {
		t.Error(got)
	}
}

func TestAroundIsTheWholeWord(t *testing.T) {
	text := "https://prodhost_1/x"
	if got := Around(text, 8, 12); got != "prodhost_1" {
		t.Error(got)
	}
}

func FuzzMask(f *testing.F) {
	f.Add("a s3cret b", "s3cret", "other")
	f.Add("xprody prod", "prod", "prodprod")
	f.Add("\x80\xffabcd", "abcd", "\xff1234")
	f.Fuzz(func(t *testing.T, text, one, two string) {
		m := New(Secret{Text: one, Shown: ""}, Secret{Text: two, Shown: ""})
		places, last := m.Find(text), 0
		for _, p := range places {
			if p.From < last || p.To <= p.From || p.To > len(text) {
				t.Fatalf("%v", places)
			}
			last = p.To
		}
		// Taken out where it stands: what is left between the places has none.
		from := 0
		for _, p := range append(places, Place{From: len(text), To: len(text)}) {
			for _, s := range []string{one, two} {
				if len(s) >= Least && !isWord(s) && strings.Contains(text[from:p.From], s) {
					t.Errorf("%q is left in %q", s, text)
				}
			}
			from = p.To
		}
	})
}
