package measure

import "math"

// barHeights are the bars that a terminal can show in one line.
var barHeights = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// Bars draws values from zero to the most of them as one line of a terminal that has so many columns: a column shows
// the most of the values that fall into it. One that has only NaN is blank.
func Bars(values []float64, columns int) string {
	columns = min(columns, len(values))
	most := 0.0
	for _, v := range values {
		if v > most && !math.IsInf(v, 0) {
			most = v
		}
	}
	line := make([]rune, max(columns, 0))
	for i := range line {
		high := math.NaN()
		for _, v := range values[i*len(values)/columns : (i+1)*len(values)/columns] {
			if math.IsNaN(high) || v > high {
				high = v
			}
		}
		switch {
		case math.IsNaN(high):
			line[i] = ' '
		case high <= 0:
			line[i] = barHeights[0]
		case high >= most:
			line[i] = barHeights[len(barHeights)-1]
		default:
			line[i] = barHeights[int(high/most*float64(len(barHeights)))]
		}
	}
	return string(line)
}
