package main

func (s *settings) look(server, dir string) error { return nil }
