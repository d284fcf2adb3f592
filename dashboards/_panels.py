"""How a panel looks: each kind is a function, with what every panel must have."""

from __future__ import annotations

from grafana_foundation_sdk.builders import (
    common as common_builders,
    dashboard as builders,
    logs,
    loki,
    prometheus,
    stat,
    table as table_builders,
    tempo,
    text as text_builders,
    timeseries,
)
from grafana_foundation_sdk.models import (
    common,
    dashboard,
    prometheus as prometheus_models,
    tempo as tempo_models,
)

from waypost.observe import _names

__all__ = [
    "board",
    "graph",
    "link_to",
    "log_lines",
    "log_table",
    "note",
    "number",
    "trace_table",
    "trace_view",
    "values",
]

TAG = "waypost"
_ALL = ".+"

METRICS = common.DataSourceRef(type_val="prometheus", uid="${metrics}")
TRACES = common.DataSourceRef(type_val="tempo", uid="${traces}")
LOGS = common.DataSourceRef(type_val="loki", uid="${logs}")

_KEPT = (
    "${__url_time_range}&${metrics:queryparam}&${traces:queryparam}&${logs:queryparam}"
    "&${side:queryparam}&${service:queryparam}"
)
"""What a link between dashboards takes along."""


def board(name: str, title: str, description: str, *, narrow: bool = True) -> builders.Dashboard:
    """
    Return an empty dashboard with the variables and links that all of them have.

    Args:
        narrow: Whether it has the variables `tool` and `class`.
    """
    built = (
        builders.Dashboard(f"waypost: {title}")
        .uid(f"waypost-{name}")
        .description(description)
        .tags([TAG])
        .readonly()
        .tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
        .time("now-1h", "now")
        .refresh("30s")
        .link(
            builders.DashboardLink("waypost")
            .type(dashboard.DashboardLinkType.DASHBOARDS)
            .tags([TAG])
            .as_dropdown(True)
            .include_vars(True)
            .keep_time(True)
        )
        .with_variable(_source("metrics", "Metrics", "prometheus"))
        .with_variable(_source("traces", "Traces", "tempo"))
        .with_variable(_source("logs", "Logs", "loki"))
        .with_variable(_side())
        .with_variable(_choice("service", "Service", "job", regex="/(?:.+\\/)?(.+)/"))
    )
    if narrow:
        built = built.with_variable(_choice("tool", "Tool", "gen_ai_tool_name")).with_variable(
            _choice("class", "Error class", "waypost_error_class")
        )
    return built


def _source(name: str, title: str, kind: str) -> builders.DatasourceVariable:
    return builders.DatasourceVariable(name).label(title).type(kind)


def _side() -> builders.CustomVariable:
    chosen = dashboard.VariableOption(selected=True, text="host", value="host")
    return (
        builders.CustomVariable("side")
        .label("Side")
        .values("host,server")
        .current(chosen)
        .description("Host and server both count a call that goes through both.")
    )


def _choice(name: str, title: str, label: str, *, regex: str = "") -> builders.QueryVariable:
    everything = dashboard.VariableOption(selected=True, text="All", value="$__all")
    query = f'label_values(waypost_errors_total{{waypost_side=~"$side"}}, {label})'
    return (
        builders.QueryVariable(name)
        .label(title)
        .datasource(METRICS)
        .query(query)
        .regex(regex)
        .refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(dashboard.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(_ALL)
        .current(everything)
    )


def link_to(uid: str, title: str, **variables: str) -> builders.DashboardLink:
    """Return a data link to a dashboard of the set, which keeps time and service."""
    asked = "".join(f"&var-{name}={value}" for name, value in variables.items())
    return builders.DashboardLink(title).url(f"/d/waypost-{uid}?{_KEPT}{asked}")


def _asked(expr: str, legend: str = "", *, instant: bool, ref: str = "A") -> prometheus.Dataquery:
    query = prometheus.Dataquery().datasource(METRICS).expr(expr).ref_id(ref).legend_format(legend)
    if instant:
        return query.instant().format(prometheus_models.PromQueryFormat.TABLE)
    return query.range().exemplar(True)


def number(
    title: str, description: str, expr: str, unit: str, *, bad_from: float | None = None
) -> stat.Panel:
    """Return one number for the time that is shown; red from *bad_from* on."""
    steps = [dashboard.Threshold(color="green", value=None)]
    if bad_from is not None:
        steps.append(dashboard.Threshold(color="red", value=bad_from))
    return (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(METRICS)
        .with_target(_asked(expr, instant=True))
        .unit(unit)
        .thresholds(
            builders.ThresholdsConfig().mode(dashboard.ThresholdsMode.ABSOLUTE).steps(steps)
        )
        .no_value("-")
        .height(4)
        .span(4)
    )


def graph(
    title: str,
    description: str,
    unit: str,
    *lines: tuple[str, str],
    width: int = 12,
    links: tuple[builders.DashboardLink, ...] = (),
) -> timeseries.Panel:
    """Return lines over time; each is an expression and the legend of its series."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(METRICS)
        .unit(unit)
        .min(0)
        .legend(
            common_builders.VizLegendOptions()
            .display_mode(common.LegendDisplayMode.TABLE)
            .placement(common.LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs(["mean", "max"])
        )
        .tooltip(
            common_builders.VizTooltipOptions()
            .mode(common.TooltipDisplayMode.MULTI)
            .sort(common.SortOrder.DESCENDING)
        )
        .data_links(list(links))
        .height(8)
        .span(width)
    )
    for at, (expr, legend) in enumerate(lines):
        panel = panel.with_target(_asked(expr, legend, instant=False, ref=chr(ord("A") + at)))
    return panel


def values(
    title: str,
    description: str,
    expr: str,
    unit: str,
    *,
    width: int = 24,
    links: dict[str, builders.DashboardLink] | None = None,
) -> table_builders.Panel:
    """Return a table, one row a series; *links* lead on from the column of a label."""
    panel = (
        table_builders.Panel()
        .title(title)
        .description(description)
        .datasource(METRICS)
        .with_target(_asked(expr, instant=True))
        .with_transformation(
            dashboard.DataTransformerConfig(
                id_val="organize", options={"excludeByName": {"Time": True}}
            )
        )
        .unit(unit)
        .decimals(0 if unit == "short" else 2)
        .height(9)
        .span(width)
    )
    return _linked(panel, links)


def _linked(
    panel: table_builders.Panel, links: dict[str, builders.DashboardLink] | None
) -> table_builders.Panel:
    for column, link in (links or {}).items():
        leads = [dashboard.DynamicConfigValue(id_val="links", value=[link.build()])]
        panel = panel.override_by_name(column, leads)
    return panel


def trace_table(
    title: str, description: str, query: str, *, width: int = 24
) -> table_builders.Panel:
    """
    Return the newest spans that a TraceQL query finds, with the chain that each belongs to.

    The ids lead to the dashboard Call, with both of them.
    """
    panel = (
        table_builders.Panel()
        .title(title)
        .description(description)
        .datasource(TRACES)
        .with_target(
            tempo.Dataquery()
            .datasource(TRACES)
            .query_type("traceql")
            .query(f"{query}{_NEWEST}")
            .table_type(tempo_models.SearchTableType.SPANS)
            .limit(50)
            .spss(100)
            .ref_id("A")
        )
        .unit("short")
        .height(9)
        .span(width)
    )
    chain = f'${{__data.fields["{_names.CHAIN_ID}"]}}'
    by_trace = link_to("call", "This call", trace_id="${__value.raw}", chain_id=chain)
    hidden = '${__data.fields["traceIdHidden"]}'  # so the column is called in a table of spans
    by_span = link_to("call", "This call", trace_id=hidden, chain_id=chain)
    return _linked(
        panel, {"traceID": by_trace, "Trace ID": by_trace, "spanID": by_span, "Span ID": by_span}
    )


_NEWEST = " with (most_recent=true)"


def trace_view(title: str, description: str, query: str) -> builders.Panel:
    """Return the waterfall of one trace."""
    return (
        builders.Panel()
        .type("traces")
        .title(title)
        .description(description)
        .datasource(TRACES)
        .with_target(
            tempo.Dataquery().datasource(TRACES).query_type("traceql").query(query).ref_id("A")
        )
        .unit("short")
        .height(14)
        .span(24)
    )


def log_lines(title: str, description: str, expr: str) -> logs.Panel:
    """Return the log records that a LogQL query finds, with their metadata."""
    return (
        logs.Panel()
        .title(title)
        .description(description)
        .datasource(LOGS)
        .with_target(
            loki.Dataquery()
            .datasource(LOGS)
            .expr(expr)
            .query_type("range")
            .max_lines(200)
            .ref_id("A")
        )
        .unit("short")
        .show_time(True)
        .enable_log_details(True)
        .wrap_log_message(True)
        .sort_order(common.LogsSortOrder.DESCENDING)
        .height(9)
        .span(24)
    )


def log_table(title: str, description: str, expr: str, *, width: int = 12) -> table_builders.Panel:
    """Return counts from log records, for what is no metric attribute."""
    return (
        table_builders.Panel()
        .title(title)
        .description(description)
        .datasource(LOGS)
        .with_target(loki.Dataquery().datasource(LOGS).expr(expr).query_type("instant").ref_id("A"))
        .unit("short")
        .height(9)
        .span(width)
    )


def note(title: str, description: str, content: str, *, width: int = 24) -> text_builders.Panel:
    """Return a text in Markdown."""
    return (
        text_builders.Panel()
        .title(title)
        .description(description)
        .content(content)
        .unit("short")
        .height(3)
        .span(width)
    )
