package rows

// tens are the powers of ten that a float holds exactly.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18, 1e19, 1e20, 1e21, 1e22}

const (
	exactly    = 1 << 53 // up to here a float holds every integer
	mostDigits = 16      // that such an integer has
	mostShort  = 32      // bytes of a number that is looked at
)

// shortFloat reads numbers of few digits, as measured values mostly are, in one go: both the digits and the power of
// ten are floats as they are, so that one multiplication or division gives the float nearest to what is written. Of
// others, and of what is no number, it says that it cannot.
func shortFloat(s string) (float64, bool) {
	if len(s) > mostShort || s == "" {
		return 0, false
	}
	i, negative := 0, s[0] == '-'
	if negative {
		i = 1
	}
	var m uint64
	seen, digits, point := 0, 0, -1 // all digits, those behind zeros, and where the point stands among all
digits:
	for ; i < len(s); i++ {
		d := s[i] - '0'
		switch {
		case d <= 9:
			if m = m*10 + uint64(d); m > 0 {
				if digits++; digits > mostDigits {
					return 0, false
				}
			}
			seen++
		case s[i] == '.' && point < 0:
			point = seen
		default:
			break digits
		}
	}
	power := 0
	if point >= 0 {
		power = point - seen
	}
	if i < len(s) {
		e, ok := shortExponent(s[i:])
		if !ok {
			return 0, false
		}
		power += e
	}
	f := float64(m)
	switch {
	case seen == 0 || m > exactly || power >= len(tens) || -power >= len(tens):
		return 0, false
	case power > 0:
		f *= tens[power]
	case power < 0:
		f /= tens[-power]
	}
	if negative {
		f = -f
	}
	return f, true
}

// shortExponent reads an e, perhaps a sign, and one to three digits.
func shortExponent(s string) (e int, ok bool) {
	const most = 3
	if s[0]|0x20 != 'e' {
		return 0, false
	}
	s = s[1:]
	negative := s != "" && s[0] == '-'
	if negative || s != "" && s[0] == '+' {
		s = s[1:]
	}
	if s == "" || len(s) > most {
		return 0, false
	}
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		e = e*10 + int(d)
	}
	if negative {
		e = -e
	}
	return e, true
}
