// Package prometheus_test has a real Prometheus scrape a server, load packaging/prometheus and ask what the dashboard
// of packaging/grafana asks.
package prometheus_test
