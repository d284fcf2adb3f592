"""Grafana dashboards and Prometheus alerts as code: ``python -m dashboards.build`` writes them."""
