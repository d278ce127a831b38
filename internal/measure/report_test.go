package measure

import (
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func report() *BenchReport {
	r := NewBenchReport("queue")
	r.Machine = Machine{OS: "linux", Arch: "amd64", CPUs: 2, CPUModel: "A \"good\" one", MemoryBytes: 8 << 30,
		Kernel: "6.1.0", Go: "go1.26"}
	h := NewHistogram()
	for i := range 1000 {
		h.Record(time.Duration(i+1) * 10 * time.Microsecond)
	}
	r.Row("hikyaku", "put").Set("writers", 8).Times(h).Rate(1000, 300*time.Millisecond)
	r.Row("limit", "put").Set("writers", 64).Rate(7, 0).Set("note", "同期のみ")
	r.Row("hikyaku", "restart").Set("bytes", uint64(123456789)).Set("rss_mb", 31.25).Set("ok", true)
	return r
}

func TestReportAsJSONKeepsTheOrderOfItsNames(t *testing.T) {
	var b strings.Builder
	if err := report().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", b.String())
	if !json.Valid([]byte(b.String())) {
		t.Error("it is not JSON")
	}
	// It is what encoding/json would write, but for white space.
	whole, err := json.Marshal(report())
	if err != nil {
		t.Fatal(err)
	}
	var back BenchReport
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(whole) {
		t.Errorf("%v: read back and written again:\n%s\nwant\n%s", err, again, whole)
	}
}

func TestReportAsTable(t *testing.T) {
	var b strings.Builder
	if err := report().Table(nil).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	japanese := map[string]string{"case": "方式", "work": "仕事", "per_s": "毎秒"}
	err := report().Table(func(name string) string {
		if s, ok := japanese[name]; ok {
			return s
		}
		return name
	}).WriteMarkdown(&b)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", b.String())
}

func TestTableOfAReportThatWasReadBackIsTheSame(t *testing.T) {
	var text, first, second strings.Builder
	r := report()
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var back BenchReport
	if err := json.Unmarshal([]byte(text.String()), &back); err != nil {
		t.Fatal(err)
	}
	_ = r.Table(nil).WriteText(&first)
	_ = back.Table(nil).WriteText(&second)
	if first.String() != second.String() {
		t.Errorf("before:\n%s\nafter:\n%s", first.String(), second.String())
	}
}

func TestEmptyReportHasAnEmptyListOfRows(t *testing.T) {
	var b strings.Builder
	if err := NewBenchReport("pace").WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"rows": [`) || !json.Valid([]byte(b.String())) {
		t.Errorf("got %s", b.String())
	}
}

func TestRowKeepsItsPlacesAndRefusesImpossibleNumbers(t *testing.T) {
	var r Row
	r.Set("b", 1).Set("a", math.Inf(1)).Set("b", math.NaN()).Set("c", json.Number("2.5"))
	text, err := json.Marshal(&r)
	if err != nil || string(text) != `{"b":null,"a":null,"c":2.5}` {
		t.Errorf("%s, %v", text, err)
	}
	if !slices.Equal(r.Names(), []string{"b", "a", "c"}) {
		t.Errorf("names are %v", r.Names())
	}
	if f, ok := r.Number("c"); !ok || f != 2.5 {
		t.Errorf("c is %v, %v", f, ok)
	}
	if _, ok := r.Number("b"); ok || r.Get("missing") != nil {
		t.Error("null or nothing is taken for a number")
	}
	if _, err := json.Marshal(new(Row).Set("f", func() {})); err == nil {
		t.Error("a function was written as JSON")
	}
}

func TestEveryNumericTypeIsANumber(t *testing.T) {
	for _, v := range []any{int(3), int64(3), int32(3), uint(3), uint64(3), uint32(3), float64(3), float32(3),
		json.Number("3")} {
		if f, ok := new(Row).Set("n", v).Number("n"); !ok || f != 3 {
			t.Errorf("%T: %v, %v", v, f, ok)
		}
	}
}

func FuzzRowFromJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"case":"x","work":null,"n":1.50,"deep":{"a":[1]}}`, `{"a":1,"a":2}`, `[]`,
		`{"a"`, `null`, `{"a":1e999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var r Row
		if json.Unmarshal(text, &r) != nil {
			return
		}
		out, err := json.Marshal(&r)
		if err != nil {
			t.Fatalf("%s was read but cannot be written: %v", text, err)
		}
		var again Row
		if err := json.Unmarshal(out, &again); err != nil || !slices.Equal(r.Names(), again.Names()) {
			t.Fatalf("%s became %s: %v", text, out, err)
		}
	})
}

func TestThisMachineKnowsItself(t *testing.T) {
	m := ThisMachine()
	if m.OS != runtime.GOOS || m.CPUs < 1 || m.Go == "" {
		t.Errorf("got %+v", m)
	}
	if runtime.GOOS == "linux" && (m.Kernel == "" || m.MemoryBytes <= 0) {
		t.Errorf("got %+v", m)
	}
}

func TestProcessorIsFoundOnSeveralArchitectures(t *testing.T) {
	for want, text := range map[string]string{
		"AMD EPYC 7B13": "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: " +
			"AMD EPYC 7B13\n\nprocessor\t: 1\nmodel name\t: other\n",
		"Raspberry Pi 4 Model B Rev 1.4": "processor\t: 0\nCPU part\t: 0xd08\n\nHardware\t: BCM2835\nModel\t\t: " +
			"Raspberry Pi 4 Model B Rev 1.4\n",
		"implementer 0x41 part 0xd0c": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
		"sifive,u74-mc":               "processor\t: 0\nhart\t: 1\nuarch\t: sifive,u74-mc\n",
		"":                            "nothing known",
	} {
		if got := cpuModel(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNotesStandAtTheEndOfTheReportOnce(t *testing.T) {
	r := report()
	var without strings.Builder
	if err := r.WriteJSON(&without); err != nil {
		t.Fatal(err)
	}
	r.Note("cold starts: \"not\" possible here")
	r.Note("cold starts: \"not\" possible here")
	r.Note("another")
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSuffix(without.String(), "}\n") +
		`, "notes": ["cold starts: \"not\" possible here","another"]}` + "\n"; b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	var back BenchReport
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || !slices.Equal(back.Notes, r.Notes) {
		t.Errorf("read back: %q, %v", back.Notes, err)
	}
}

func TestColumnOfNumbersStandsAtTheRightAlsoWithEmptyTexts(t *testing.T) {
	r := NewBenchReport("queue")
	r.Row("a", "put").Set("depth", 5).Set("asked", "")
	r.Row("b", "put").Set("depth", "").Set("asked", "ratio")
	r.Row("c", "put").Set("depth", 1000)
	var b strings.Builder
	if err := r.Table(nil).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := "case  work  depth  asked\n----  ----  -----  -----\na     put       5\nb     put          ratio\nc     " +
		"put   1,000\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
