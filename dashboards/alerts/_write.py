"""The alerts as Prometheus reads them, and as Grafana provisions them."""

from __future__ import annotations

from ._rules import RULES, Alert

__all__ = ["for_grafana", "for_prometheus"]

_GROUP = "waypost"


def for_prometheus() -> dict[str, object]:
    """Return the content of a rule file of Prometheus."""
    rules = [
        {
            "alert": alert.name,
            "expr": alert.expr,
            "for": alert.lasting,
            "labels": {"severity": alert.severity},
            "annotations": _annotations(alert),
        }
        for alert in RULES
    ]
    return {"groups": [{"name": _GROUP, "rules": rules}]}


def for_grafana() -> dict[str, object]:
    """Return the content of a provisioning file for Grafana's own alerting."""
    rules = [
        {
            "uid": f"waypost-{alert.name.lower()}",
            "title": alert.name,
            "condition": "B",
            "data": [_query(alert), _is_there()],
            "for": alert.lasting,
            "noDataState": "OK",
            "execErrState": "Error",
            "labels": {"severity": alert.severity},
            "annotations": _annotations(alert, value="$values.A.Value"),
        }
        for alert in RULES
    ]
    group = {"orgId": 1, "name": _GROUP, "folder": _GROUP, "interval": "1m", "rules": rules}
    return {"apiVersion": 1, "groups": [group]}


def _annotations(alert: Alert, value: str = "$value") -> dict[str, str]:
    return {
        "summary": alert.summary.replace("$value", value),
        "description": alert.description,
        "runbook_url": alert.runbook,
    }


def _query(alert: Alert) -> dict[str, object]:
    return {
        "refId": "A",
        "relativeTimeRange": {"from": 600, "to": 0},
        "datasourceUid": "waypost-metrics",
        "model": {"refId": "A", "expr": alert.expr, "instant": True, "range": False},
    }


def _is_there() -> dict[str, object]:
    """The expression yields only what is in alarm, so any number at all is one."""
    return {
        "refId": "B",
        "datasourceUid": "__expr__",
        "model": {
            "refId": "B",
            "type": "math",
            "expression": "is_number($A) || is_inf($A)",
        },
    }
