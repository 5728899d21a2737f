"""What schemathesis must know of Turnstile beyond its OpenAPI document."""

from datetime import date
from itertools import count

import schemathesis
from hypothesis import strategies
from schemathesis.specs.openapi.checks import positive_data_acceptance

# Rules between several values. JSON Schema states rules about one value only.
BETWEEN_VALUES = (
    "account: needed with a client's id",
    "departure: a stay has at most",
    "departure: the departure is a date after the arrival",
    "only: * for all stands alone",
    "to: the end is a date after the start",
    "until: an order has a date or a word for its time in force, not both",
)

# Rules within one text that no pattern states: a check character, and no seat twice.
WITHIN_A_TEXT = (
    "the reference is mistyped: its check character does not fit",
    "is named twice",
)

# Refusals of class `invalid`: the bound depends on the symbol, the game, the time or another value.
REFUSALS = (
    "date_over",
    "empty_band",
    "expires_in_the_past",
    "market_must_not_wait",
    "no_such_cell",
    "role_takes_no_names",
    "same_player",
    "scale_too_large",
    "too_large",
    "too_many_digits",
    "zero",
)


def is_beyond_schemas(problem):
    detail = problem.get("detail", "")
    return (
        problem["code"] in REFUSALS
        or detail.startswith(BETWEEN_VALUES)
        or detail.endswith(WITHIN_A_TEXT)
    )


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    """A request that the document allows is refused as a wrong one only by the rules above."""
    if response.status_code == 400 and is_beyond_schemas(response.json()):
        return None
    # One audit is read at a time, and a request for another part of it waits until that is over.
    if response.status_code == 503 and case.operation.path == "/v1/audit":
        return None
    return positive_data_acceptance(ctx, response, case)


# Answers of the door itself, before it knows the operation: `default` in the document stands for them.
OF_THE_DOOR = {405}


@schemathesis.check
def statuses_are_documented(ctx, response, case):
    """Fails where an answer has a status that its operation does not list."""
    documented = case.operation.definition.raw["responses"]
    status = response.status_code
    assert status in OF_THE_DOOR or str(status) in documented, f"undocumented status {status}"


KEYS = count(1)

# The names of path parameters, with the field of an answer that such a thing has when it is made.
MADE_AS = {"reference": "reference", "hold": "reference", "locator": "locator"}

# What was made last, by service and field.
made = {}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each right request a key of its own, and the reference of something that was made.

    The server has no keys, so it refuses every key and knows no session: none is shown.
    """
    (case.headers or {}).pop("Authorization", None)
    (case.cookies or {}).pop("turnstile_session", None)
    # The first key of an administrator would make the server ask for one ever after.
    if (case.path_parameters or {}).get("role") == "admin":
        case.path_parameters["role"] = "reader"
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = f"key-{next(KEYS)}"
    for parameter in case.path_parameters or {}:
        thing = made.get((service_of(case), MADE_AS.get(parameter)))
        if thing is not None:
            case.path_parameters[parameter] = thing


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 201:
        for field in MADE_AS.values():
            thing = response.json().get(field)
            made[service_of(case), field] = thing or made.get((service_of(case), field))


def service_of(case):
    return case.path.split("/")[2]


# The server keeps dates up to June 2149. Without this, most dates are drawn in vain.
DAYS = strategies.dates(date(1970, 1, 2), date(2149, 6, 5))
schemathesis.openapi.format("date", DAYS.map(str))
