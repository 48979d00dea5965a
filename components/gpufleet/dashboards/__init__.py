"""A Grafana dashboard of an environment, and the Prometheus rules that it reads, as data."""
