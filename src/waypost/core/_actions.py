"""The class table: what each error class means for the caller, and the sentences that say so."""

from __future__ import annotations

from typing import NamedTuple

from ._model import ErrorClass, NextStep, Stop

WAIT_PLACEHOLDER = "{wait}"
"""Stands once in every sentence of step ``wait``; it becomes ``20 s`` or the like."""

CHECK_EFFECT = "Check whether the first call took effect; call again only if it did not."
"""For a call that writes, when the failure does not say whether the work was done."""

CHECK_FIRST = "First check whether the first call took effect."
"""Stands before the sentence when it is not known whether the tool writes."""

SIGN_IN_OTHERWISE = (
    "The credentials were refused: do not repeat this call with them. "
    "Ask the user to sign in with other ones."
)


class ClassDefaults(NamedTuple):
    """What holds for every row of a class that does not say otherwise."""

    retryable: bool
    step: NextStep
    action: str | None


CLASS_DEFAULTS: dict[ErrorClass, ClassDefaults] = {
    ErrorClass.RATE_LIMITED: ClassDefaults(
        True, NextStep.WAIT, "Wait {wait}, then make the same call."
    ),
    ErrorClass.UNAVAILABLE: ClassDefaults(
        True, NextStep.WAIT, "Wait {wait}, then make the same call."
    ),
    ErrorClass.TIMEOUT: ClassDefaults(
        True,
        NextStep.WAIT,
        "Wait {wait}, then make the same call. If it times out again, ask for less.",
    ),
    ErrorClass.CONFLICT: ClassDefaults(
        True,
        NextStep.WAIT,
        "Wait {wait} for the other operation to end, then make the same call.",
    ),
    ErrorClass.DISCONNECTED: ClassDefaults(
        True, NextStep.RECONNECT, "Reconnect to the server, then make the same call."
    ),
    ErrorClass.NOT_READY: ClassDefaults(
        True,
        NextStep.PREPARE,
        "Start or initialize what this tool needs, then make the same call.",
    ),
    ErrorClass.UNAUTHENTICATED: ClassDefaults(
        True, NextStep.SIGN_IN, "Sign in again, or ask the user to, then make the same call."
    ),
    ErrorClass.NEEDS_INPUT: ClassDefaults(
        True,
        NextStep.ASK_USER,
        "Ask the user for what is missing, then call again with the answer.",
    ),
    ErrorClass.INTERNAL: ClassDefaults(
        True,
        NextStep.WAIT,
        "Wait {wait}, then make the same call once; if it fails again, report it.",
    ),
    ErrorClass.FORBIDDEN: ClassDefaults(
        False,
        NextStep.ASK_PERMISSION,
        "Do not repeat this call and do not work around it. "
        "Ask the user, or whoever grants access, for permission.",
    ),
    ErrorClass.REJECTED: ClassDefaults(
        False,
        NextStep.ASK_USER,
        "Do not repeat this call: a policy or a person said no. "
        "Tell the user and ask how to go on.",
    ),
    ErrorClass.NOT_FOUND: ClassDefaults(
        False,
        NextStep.LIST_FIRST,
        "Do not repeat this call. List what exists, then call again with one of those.",
    ),
    ErrorClass.INVALID: ClassDefaults(
        False,
        NextStep.FIX_ARGUMENTS,
        "Do not repeat this call unchanged. "
        "Correct the arguments that the error names, then call again.",
    ),
    ErrorClass.TOO_LARGE: ClassDefaults(
        False,
        NextStep.REDUCE_SCOPE,
        "Do not repeat this call unchanged. "
        "Send or ask for less: a filter, a lower limit, smaller parts.",
    ),
    ErrorClass.ALREADY_EXISTS: ClassDefaults(
        False,
        NextStep.LIST_FIRST,
        "Do not repeat this call. Look up the existing one and use it, or choose another name.",
    ),
    ErrorClass.PRECONDITION: ClassDefaults(
        False,
        NextStep.LIST_FIRST,
        "Do not repeat this call unchanged. Read the current state, then call again with it.",
    ),
    ErrorClass.QUOTA_EXHAUSTED: ClassDefaults(
        False,
        NextStep.ASK_USER,
        "Do not repeat this call: the allowance is used up. "
        "Tell the user, who can raise it or free some of it.",
    ),
    ErrorClass.UNSUPPORTED: ClassDefaults(
        False,
        NextStep.USE_OTHER_TOOL,
        "Do not repeat this call: it is not supported here. "
        "Use another tool or another way to reach the goal.",
    ),
    ErrorClass.MISCONFIGURED: ClassDefaults(
        False,
        NextStep.REPORT,
        "Do not repeat this call. Report that the server's configuration is incomplete or wrong.",
    ),
    ErrorClass.CANCELLED: ClassDefaults(
        False,
        NextStep.ASK_USER,
        "Do not repeat this call on your own. Ask the user whether to run it again.",
    ),
    ErrorClass.DATA_LOSS: ClassDefaults(
        False,
        NextStep.REPORT,
        "Stop. Do not repeat this call; report that data may be lost or damaged.",
    ),
    ErrorClass.UNKNOWN: ClassDefaults(False, NextStep.NONE, None),
}

STRICTER_DEFAULTS: dict[ErrorClass, tuple[NextStep, str]] = {
    ErrorClass.UNAUTHENTICATED: (NextStep.SIGN_IN, SIGN_IN_OTHERWISE),
    ErrorClass.INTERNAL: (
        NextStep.REPORT,
        "Do not repeat this call: the tool itself failed. Report it to the user.",
    ),
    ErrorClass.NEEDS_INPUT: (
        NextStep.ASK_USER,
        "Do not repeat this call unchanged. Ask the user how to go on.",
    ),
}
"""For rows that are not retryable although their class is; other classes are told to report."""

STEP_ACTIONS: dict[NextStep, str | None] = {
    NextStep.WAIT: "Wait {wait}, then make the same call.",
    NextStep.RECONNECT: "Reconnect to the server, then make the same call.",
    NextStep.PREPARE: "Start or initialize what this tool needs, then make the same call.",
    NextStep.SIGN_IN: "Sign in again, or ask the user to, then make the same call.",
    NextStep.ASK_USER: "Do not repeat this call unchanged. Ask the user how to go on.",
    NextStep.CHECK_EFFECT: CHECK_EFFECT,
    NextStep.FIX_ARGUMENTS: "Correct the arguments that the error names, then call again.",
    NextStep.LIST_FIRST: "List what exists, then call again with one of those.",
    NextStep.REDUCE_SCOPE: "Send or ask for less, then call again.",
    NextStep.USE_OTHER_TOOL: "Do not repeat this call. Use another tool to reach the goal.",
    NextStep.ASK_PERMISSION: "Do not repeat this call. Ask the user for permission.",
    NextStep.REPORT: "Do not repeat this call. Report the failure to the user.",
    NextStep.NONE: None,
}
"""For rows whose step is not their class's own and that bring no sentence."""

STOP_ACTIONS: dict[Stop, str] = {
    Stop.WAITED: (
        "Do not repeat this call: you waited, and it failed in the same way again. "
        "Stop and tell the user."
    ),
    Stop.ATTEMPTS: (
        "Do not repeat this call: it has failed at every attempt. Stop and tell the user."
    ),
    Stop.ROW: (
        "Do not call this tool again for now: it keeps failing, whatever the arguments. "
        "Stop and tell the user."
    ),
}
"""What waypost says where what it said before has not helped; the step is `report`."""
