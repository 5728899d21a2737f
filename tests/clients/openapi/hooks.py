"""What schemathesis must know of Turnstile beyond its OpenAPI document."""

from datetime import date

import schemathesis
from hypothesis import strategies
from schemathesis.specs.openapi.checks import positive_data_acceptance

# Rules between several values. JSON Schema states rules about one value only.
BETWEEN_VALUES = (
    "account: needed with a client's id",
    "departure: a stay has at most",
    "departure: the departure is a date after the arrival",
    "to: the end is a date after the start",
    "until: an order has a date or a word for its time in force, not both",
)

# Rules within one text that no pattern states: a check character, and no seat twice.
WITHIN_A_TEXT = (
    "the reference is mistyped: its check character does not fit",
    "is named twice",
)

# Refusals of class `invalid`: the bounds depend on the symbol, or on another value.
REFUSALS = ("same_player", "scale_too_large", "too_large", "too_many_digits", "zero")

# A key belongs to the first request that has it.
KEY = "idempotency_key_reused"


def is_beyond_schemas(problem):
    detail = problem.get("detail", "")
    return (
        problem["code"] in (*REFUSALS, KEY)
        or detail.startswith(BETWEEN_VALUES)
        or detail.endswith(WITHIN_A_TEXT)
    )


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    """A request that the document allows is refused as a wrong one only by the rules above."""
    if response.status_code in (400, 422) and is_beyond_schemas(response.json()):
        return None
    return positive_data_acceptance(ctx, response, case)


# The server keeps dates up to June 2149. Without this, most dates are drawn in vain.
DAYS = strategies.dates(date(1970, 1, 2), date(2149, 6, 5))
schemathesis.openapi.format("date", DAYS.map(str))
