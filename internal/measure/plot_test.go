package measure

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func curve(n int, f func(x float64) float64) (points []Point) {
	for i := 1; i <= n; i++ {
		points = append(points, Point{float64(i), f(float64(i))})
	}
	return points
}

func plots() map[string]*Plot {
	return map[string]*Plot{
		"linear": {
			Title: "Events per second & <workers>", XLabel: "workers", YLabel: "events/s",
			Series: []Series{
				{Name: "hikyaku", Points: curve(12, func(x float64) float64 { return 3100 * x })},
				{Name: "seed-way", Points: curve(12, func(x float64) float64 { return 3300 * (1 - math.Exp(-x)) })},
				{Name: "offered", Style: Dashes, Points: []Point{{1, 40000}, {12, 40000}}},
				{Name: "measured once", Style: Marks, Points: []Point{{3, 12000}, {7, math.NaN()}, {9, 22000}}},
			},
		},
		"log": {
			Title: "待ち時間と深さ", XLabel: "深さ（件）", YLabel: "p99", XLog: true, YLog: true,
			YText: func(v float64) string { return Duration(time.Duration(v)) },
			Series: []Series{
				{Name: "飛脚", Points: []Point{{1, 4e5}, {10, 4.2e5}, {1000, 4.5e5}, {1e6, 6e5}}},
				{Name: "とても長い名前の系列はここで切られる、絵からはみ出さないように", Points: []Point{{1, 1e6}, {10, 3e6}, {0, 5}, {1000, 5e7},
					{1e6, 9e8}}},
			},
		},
		"names": {
			Title: "p99 by runtime", YLabel: "ms", XNames: []string{"go", "node", "python", "実行環境"}, Width: 500,
			Height: 300,
			Series: []Series{{Style: Marks, Points: []Point{{0, 1.2}, {1, 3.4}, {2, 2.2}, {3, 0.8}}}},
		},
		"caption": {
			Title: "puts per second", YLabel: "puts/s", Width: 500, Height: 300,
			Caption: []string{"one writer: asked >= 0.85 × the disk; measured 0.91", "a caption that is far too long " +
				"for so small a picture is cut where the picture ends, and not before"},
			Series: []Series{{Points: []Point{{0, 1.2}, {1, 3.4}}}},
		},
		"empty": {Title: "nothing was measured", XLog: true, Series: []Series{{Name: "none"}}},
	}
}

func TestPlots(t *testing.T) {
	for name, p := range plots() {
		t.Run(name, func(t *testing.T) {
			svg := p.SVG()
			golden(t, "plot-"+name+".svg", svg)
			if err := wellFormed(svg); err != nil {
				t.Error(err)
			}
		})
	}
}

// A caption pushes the area down and stands above it, below the title.
func TestCaptionStandsBetweenTitleAndArea(t *testing.T) {
	p := &Plot{Title: "t", Series: []Series{{Points: []Point{{1, 1}, {2, 2}}}}}
	top := func() float64 {
		d := &drawing{plot: p, width: 400, height: 400}
		d.layOut()
		return d.top
	}
	without := top()
	p.Caption = []string{"first", "second"}
	if got := top() - without; got != 2*lineHeight {
		t.Errorf("two lines move the area by %v, want %v", got, 2*lineHeight)
	}
	if svg := p.SVG(); strings.Index(svg, "first") > strings.Index(svg, "second") || !strings.Contains(svg, "first") {
		t.Error("the lines of the caption are not in their order")
	}
}

func wellFormed(svg string) error {
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func TestEveryPlotIsValidXMLWithoutImpossibleNumbers(t *testing.T) {
	values := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, math.MaxFloat64, -math.MaxFloat64, 5e-324, math.Inf(1),
			math.NaN()}))
	rapid.Check(t, func(t *rapid.T) {
		p := &Plot{Title: texts.Draw(t, "title"), XLabel: texts.Draw(t, "x"), YLabel: texts.Draw(t, "y"),
			XLog: rapid.Bool().Draw(t, "x log"), YLog: rapid.Bool().Draw(t, "y log"),
			Width: rapid.IntRange(-1, 900).Draw(t, "width"), XNames: rapid.SliceOfN(texts, 0, 3).Draw(t, "names")}
		for range rapid.IntRange(0, 3).Draw(t, "series") {
			s := Series{Name: texts.Draw(t, "name"), Style: Style(rapid.IntRange(0, 3).Draw(t, "style"))}
			for range rapid.IntRange(0, 10).Draw(t, "points") {
				s.Points = append(s.Points, Point{values.Draw(t, "x"), values.Draw(t, "y")})
			}
			p.Series = append(p.Series, s)
		}
		svg := p.SVG()
		if err := wellFormed(svg); err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		p.Title, p.XLabel, p.YLabel, p.XNames = "", "", "", nil
		for i := range p.Series {
			p.Series[i].Name = ""
		}
		if svg := p.SVG(); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Fatalf("an impossible number in %s", svg)
		}
	})
}

func TestAMillionPointsMakeASmallPictureThatKeepsThePeaks(t *testing.T) {
	points := curve(1_000_000, func(x float64) float64 { return math.Mod(x, 7) })
	points[500_000].Y = 1000
	for _, style := range []Style{Lines, Marks} {
		p := &Plot{Series: []Series{{Style: style, Points: points}}}
		svg := p.SVG()
		if len(svg) > 2_000_000 {
			t.Errorf("style %d: %d bytes", style, len(svg))
		}
		if top := px(p.yOf(1000)); style == Lines && !strings.Contains(svg, " "+top) {
			t.Errorf("the peak at %s is missing", top)
		}
	}
}

// yOf returns the height in the picture at which a value stands.
func (p *Plot) yOf(v float64) float64 {
	d := &drawing{plot: p, width: 840, height: 480}
	d.layOut()
	return d.y.at(v)
}

func TestPlotOfMadSizeIsRefused(t *testing.T) {
	p := &Plot{Width: 1 << 30}
	if err := p.WriteSVG(io.Discard); !errors.Is(err, errTooLarge) || p.SVG() != "" {
		t.Errorf("got %v", err)
	}
}

func TestTicksAreRoundNumbersWithinTheAxis(t *testing.T) {
	for _, c := range []struct {
		values []float64
		log    bool
		want   string
	}{
		{[]float64{0, 10}, false, "0 2 4 6 8 10"},
		{[]float64{1, 12}, false, "0 2 4 6 8 10 12"},
		{[]float64{0.001, 0.0042}, false, "0.000 0.001 0.002 0.003 0.004 0.005"},
		{[]float64{1000, 1003}, false, "1000.0 1000.5 1001.0 1001.5 1002.0 1002.5 1003.0"},
		{[]float64{-5, 5}, false, "-6 -4 -2 0 2 4 6"},
		{[]float64{7}, false, "0 2 4 6 8 10 12"},
		{[]float64{1, 90}, true, "1 2 5 10 20 50 100"},
		{[]float64{3, 2e7}, true, "10 100 1,000 10,000 100,000 1,000,000 10,000,000"},
		{[]float64{0.004, 0.05}, true, "0.002 0.005 0.01 0.02 0.05"},
	} {
		var got []string
		s := newScale(c.values, c.log, 0, 100).fitZero().widen(6)
		for _, k := range s.ticks(6, nil) {
			if at := s.at(k.value); at < -0.01 || at > 100.01 {
				t.Errorf("%v: the tick %v stands at %v", c.values, k.value, at)
			}
			if k.text != "" {
				got = append(got, k.text)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: ticks are %q, want %q", c.values, strings.Join(got, " "), c.want)
		}
	}
}
