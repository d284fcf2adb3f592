"""When somebody should look: the alerts, for Prometheus and for Grafana, from one source."""
