package sqldriver

import "testing"

func TestQuestionMarksBecomeNames(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT 1":                             "SELECT 1",
		"VALUES (?, ?,?)":                      "VALUES (:p1, :p2,:p3)",
		"a = '?''?' AND b = ?":                 "a = '?''?' AND b = :p1",
		`"a?" = ? -- really?` + "\n AND c = ?": `"a?" = :p1 -- really?` + "\n AND c = :p2",
		"/* ? */ ? '":                          "/* ? */ :p1 '",
		"? /* ?":                               ":p1 /* ?",
	} {
		if got, _ := rewrite(in); got != want {
			t.Errorf("%s: got %s, wanted %s", in, got, want)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add("SELECT '?' FROM t WHERE a = ? -- ?")
	f.Add("/* ? */ \"?\" ?")
	f.Fuzz(func(t *testing.T, in string) {
		out, n := rewrite(in)
		again, m := rewrite(out)
		if again != out || m != 0 {
			t.Fatalf("%q became %q and then %q", in, out, again)
		}
		if n == 0 && out != in {
			t.Fatalf("%q became %q without a placeholder", in, out)
		}
	})
}
