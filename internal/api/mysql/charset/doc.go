// Package charset converts between UTF-8, in which everything is kept, and the character sets that clients of the MySQL
// door speak, as MySQL converts them: of the Japanese ones, of which several tables exist, by its own.
//
//	set, ok := charset.Named("sjis")
//	text, err := set.Decode(sent)   // Error 1300's reason when it is none
//	back := set.Encode(text)        // what the set lacks becomes "?"
//
// It knows nothing of connections and of SQL.
package charset
