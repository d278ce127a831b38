package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// scalar fills a text, number, truth value or duration.
func (d *decoder) scalar(n *node, v reflect.Value, f *field, path string) {
	if n.kind == kindMap || n.kind == kindList {
		d.wrong(n, path, takes(v.Type(), f))
		return
	}
	switch {
	case n.unset && (v.Kind() != reflect.String || len(f.oneOf()) > 0):
	case v.Type() == durationType:
		d.duration(n, v, f, path)
	case v.Kind() == reflect.String:
		d.string(n, v, f, path)
	case v.Kind() == reflect.Bool:
		if n.kind != kindBool && !n.fromEnv() {
			d.wrong(n, path, takes(v.Type(), f))
			return
		}
		b, err := strconv.ParseBool(strings.TrimSpace(n.text))
		if err != nil {
			d.wrong(n, path, takes(v.Type(), f))
			return
		}
		v.SetBool(b)
	case v.CanInt() || v.CanUint():
		d.integer(n, v, f, path)
	case v.CanFloat():
		if n.kind != kindInt && n.kind != kindFloat && !n.fromEnv() {
			d.wrong(n, path, takes(v.Type(), f))
			return
		}
		x, err := parseFloat(n.text)
		if err != nil {
			d.wrong(n, path, takes(v.Type(), f))
			return
		}
		v.SetFloat(x)
		d.inRange(n, x, f, path)
	default:
		d.at(n.at, "", "%s cannot be set in a file", path)
	}
}

// takes says what a field takes.
func takes(t reflect.Type, f *field) string {
	switch {
	case t == durationType:
		return "a duration like 30s or 5m"
	case len(f.oneOf()) > 0:
		return "one of " + strings.Join(f.oneOf(), ", ")
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return "a number"
	case f.bytes():
		return "a size in bytes like 65536, 64KiB or 10MB"
	default:
		return "a whole number"
	}
}

func (d *decoder) string(n *node, v reflect.Value, f *field, path string) {
	if n.kind != kindString && !n.fromEnv() {
		hint := ""
		if n.kind != kindNull && n.plain {
			hint = "put it in quotes"
		}
		d.at(n.at, hint, "%s takes %s, not %s", path, takes(v.Type(), f), n.describe())
		return
	}
	if all := f.oneOf(); len(all) > 0 {
		for _, one := range all {
			if n.text == one {
				v.SetString(one)
				return
			}
		}
		hint := ""
		if !n.fromEnv() {
			if near := nearest.Name(n.text, all); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
		}
		d.at(n.at, hint, "%s takes %s, not %s", path, takes(v.Type(), f), n.describe())
		return
	}
	if f.required() && n.text == "" {
		d.at(n.at, "", "%s is empty", path)
	}
	if f.tag.Get("file") == "read" && n.text != "" {
		d.files = append(d.files, namedFile{n.text, n.at, path, n.fromEnv()})
	}
	v.SetString(n.text)
}

func (d *decoder) integer(n *node, v reflect.Value, f *field, path string) {
	text := n.text
	if f.bytes() && (n.kind == kindString || n.fromEnv()) {
		size, err := parseSize(text)
		if err != nil {
			d.wrong(n, path, takes(v.Type(), f))
			return
		}
		text = strconv.FormatInt(size, 10)
	} else if n.kind != kindInt && !n.fromEnv() {
		d.wrong(n, path, takes(v.Type(), f))
		return
	}
	if v.CanUint() {
		u, err := strconv.ParseUint(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 0, v.Type().Bits())
		if err != nil {
			d.badNumber(n, v, f, path, err)
			return
		}
		v.SetUint(u)
		d.inRange(n, float64(u), f, path)
		return
	}
	i, err := parseInt(text, v.Type().Bits())
	if err != nil {
		d.badNumber(n, v, f, path, err)
		return
	}
	v.SetInt(i)
	d.inRange(n, float64(i), f, path)
}

func (d *decoder) badNumber(n *node, v reflect.Value, f *field, path string, err error) {
	if errors.Is(err, strconv.ErrRange) {
		d.at(n.at, "", "%s: %s is too large", path, n.describe())
		return
	}
	if v.CanUint() && strings.HasPrefix(strings.TrimSpace(n.text), "-") {
		d.at(n.at, "", "%s: %s is negative", path, n.describe())
		return
	}
	d.wrong(n, path, takes(v.Type(), f))
}

func (d *decoder) duration(n *node, v reflect.Value, f *field, path string) {
	text := strings.TrimSpace(n.text)
	if n.kind == kindInt && text != "0" {
		hint := ""
		if !n.fromEnv() {
			hint = fmt.Sprintf("write %ss for seconds or %sms for milliseconds", text, text)
		}
		d.at(n.at, hint, "%s takes a duration with its unit, not %s", path, n.describe())
		return
	}
	length, err := parseDuration(text)
	if err != nil {
		d.at(n.at, "units: ms, s, m, h, d", "%s takes %s, not %s", path, takes(v.Type(), f), n.describe())
		return
	}
	if length < 0 {
		d.at(n.at, "", "%s: %s is negative", path, n.describe())
		return
	}
	v.SetInt(int64(length))
	if least, err := parseDuration(f.tag.Get("min")); err == nil && length < least {
		d.at(n.at, "", "%s is at least %s, not %s", path, f.tag.Get("min"), n.describe())
	}
	if most, err := parseDuration(f.tag.Get("max")); err == nil && length > most {
		d.at(n.at, "", "%s is at most %s, not %s", path, f.tag.Get("max"), n.describe())
	}
}

// inRange checks the min and max tags.
func (d *decoder) inRange(n *node, x float64, f *field, path string) {
	low, high := math.Inf(-1), math.Inf(1)
	if b, err := strconv.ParseFloat(f.tag.Get("min"), 64); err == nil {
		low = b
	}
	if b, err := strconv.ParseFloat(f.tag.Get("max"), 64); err == nil {
		high = b
	}
	switch {
	case x >= low && x <= high:
	case math.IsInf(high, 1):
		d.at(n.at, "", "%s is at least %s, not %s", path, f.tag.Get("min"), n.describe())
	case math.IsInf(low, -1):
		d.at(n.at, "", "%s is at most %s, not %s", path, f.tag.Get("max"), n.describe())
	default:
		d.at(n.at, "", "%s is from %s to %s, not %s", path, f.tag.Get("min"), f.tag.Get("max"), n.describe())
	}
}

func parseInt(text string, bits int) (int64, error) {
	return strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 0, bits)
}

func parseFloat(text string) (float64, error) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 64)
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		err = strconv.ErrRange
	}
	return f, err
}

// parseDuration reads Go's durations, and whole days.
func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/int64(24*time.Hour) {
			return 0, fmt.Errorf("%q is not a number of days", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	return time.ParseDuration(text)
}

// sizeUnits are the endings of a size: powers of 1024, but for those that end in B alone.
var sizeUnits = [...]struct {
	name  string
	bytes int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40},
	{"b", 1}, {"", 1},
}

// parseSize reads 65536, 64KiB, 64k or 10MB: k, M, G and T count as KiB, MiB, GiB and TiB.
func parseSize(text string) (int64, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(number), "_", ""), 10, 64)
		if err != nil {
			return 0, err
		}
		if n > math.MaxInt64/u.bytes || n < math.MinInt64/u.bytes {
			return 0, strconv.ErrRange
		}
		return n * u.bytes, nil
	}
	return 0, strconv.ErrSyntax
}
