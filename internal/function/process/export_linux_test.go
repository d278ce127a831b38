package process

// AsUser has the Starter do what it does for a user who may not mount. It is to be called before anything is started; it tells why that is not
// permitted.
func (s *Starter) AsUser() string {
	m := mounting{shell: "/bin/sh"}
	if err := m.try(); err != nil {
		return err.Error()
	}
	s.mounting.close()
	s.mounting = m
	return ""
}
