package javascript

import "testing"

// TestTheLanguageHasWhatFunctionsExpect: the answers are those of V8.
func TestTheLanguageHasWhatFunctionsExpect(t *testing.T) {
	for code, want := range map[string]string{
		`(1234.5).toLocaleString('en-US')`:                                                     "1,234.5",
		`(1234.5).toLocaleString()`:                                                            "1,234.5",
		`new Number(1e6).toLocaleString()`:                                                     "1,000,000",
		`[0, -0, 7, 999, -1000].map(x => x.toLocaleString()).join(' ')`:                        "0 -0 7 999 -1,000",
		`[0.1 + 0.2, 1.0005, 0.0005, 0.0004, 999.9996].map(x => x.toLocaleString()).join(' ')`: "0.3 1.001 0.001 0 1,000",
		`[1e21, 1.5e22, 1e-7, -1e-7].map(x => x.toLocaleString()).join(' ')`: "1,000,000,000,000,000,000,000 " +
			"15,000,000,000,000,000,000,000 0 -0",
		`[NaN, Infinity, -Infinity].map(x => x.toLocaleString()).join(' ')`: "NaN ∞ -∞",
		`[12n, -1234567n].map(x => x.toLocaleString('de')).join(' ')`:       "12 -1,234,567",
		`[1234.5, 2].toLocaleString()`:                                      "1,234.5,2",
		`try { (1).toLocaleString('en', {style: 'percent'}) } catch (e) { e.message }`: "toLocaleString takes no " +
			"options: there is no Intl",
		`JSON.stringify(Object.groupBy([1, 2, 3], (x, i) => x % 2 ? 'odd' : i))`: `{"1":[2],"odd":[1,3]}`,
		`Object.getPrototypeOf(Object.groupBy('', x => x))`:                      "null",
		`Object.keys(Object).length + Object.keys(Number.prototype).length`:      "0",
		`Object.keys(globalThis).length`:                                         "0",
	} {
		vm, err := newRuntime()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := vm.RunString(code); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v; wanted %s", code, got, err, want)
		}
	}
}

func BenchmarkNewRuntime(b *testing.B) {
	for b.Loop() {
		if _, err := newRuntime(); err != nil {
			b.Fatal(err)
		}
	}
}
