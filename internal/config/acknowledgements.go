package config

import "strings"

// Acknowledgements is a setting of other log shippers that here says what is always so. It takes true, and refuses to
// be switched off.
type Acknowledgements struct{}

// decodeNode reads true, or a mapping with enabled.
func (*Acknowledgements) decodeNode(d *decoder, n *node, path string) {
	on := n
	if n.kind == kindMap {
		var c struct {
			Enabled bool `yaml:"enabled" required:"true"`
		}
		before := d.mistakes()
		d.mapping(n, path, &c)
		if on, path = n.get("enabled"), join(path, "enabled"); d.mistakes() > before || c.Enabled {
			return
		}
	}
	switch {
	case on.kind != kindBool && !on.fromEnv():
		d.wrong(on, path, "true or false, or a mapping with enabled")
	case !strings.EqualFold(strings.TrimSpace(on.text), "true"):
		d.at(on.at, "leave it out", "%s cannot be switched off: a source hears of a message when it is delivered, "+
			"and not before", path)
	}
}

func (Acknowledgements) describeType() string { return "`true`, or a mapping with `enabled: true`" }
