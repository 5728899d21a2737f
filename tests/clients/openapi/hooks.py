"""What schemathesis must know of Turnstile beyond its OpenAPI document."""

import os
from datetime import date
from itertools import count

import schemathesis
from hypothesis import strategies
from schemathesis.specs.openapi.checks import positive_data_acceptance

# Who asks: `local`, of a server without keys; `root`, who may do everything; `desk`, a user of one
# property; or `stranger`, who has no key.
CALLER = os.environ["TURNSTILE_TEST_CALLER"]
KEY = os.environ.get("TURNSTILE_TEST_KEY")

# What `desk` has a right to, though perhaps not for every name.
RIGHTS_OF_DESK = ("rooms.read", "rooms.use")

# Rules between several values. JSON Schema states rules about one value only.
BETWEEN_VALUES = (
    "account: needed with a client's id",
    "departure: a stay has at most",
    "departure: the departure is a date after the arrival",
    "only: * for all stands alone",
    "service: a run is for one of",
    "service: a rush is for one of",
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
    if CALLER in ("desk", "stranger"):
        return None
    if response.status_code == 400 and is_beyond_schemas(response.json()):
        return None
    # One audit is read at a time, and a request for another part of it waits until that is over.
    if response.status_code == 503 and case.operation.path == "/v1/audit":
        return None
    return positive_data_acceptance(ctx, response, case)


@schemathesis.check
def callers_do_what_their_rights_say(ctx, response, case):
    """The answer depends on who asks, as the rights in the document say."""
    if CALLER == "local":
        return
    operation = case.operation.definition.raw
    status = response.status_code
    code = response.json()["code"] if status in (401, 403) else None
    is_public = operation["security"] == [{}]
    if is_public:
        assert code is None or case.method != case.operation.method.upper(), f"{code} for all"
    elif CALLER == "stranger":
        # What else is wrong with a head is told first.
        assert code == "not_logged_in" or status in (405, 406, 421), f"status {status} without a key"
        if status == 401:
            assert response.headers["www-authenticate"][0].startswith("Bearer realm=")
    elif CALLER == "root":
        assert code not in ("not_logged_in", "wrong_key", "missing_right"), code
    elif is_beyond_desk(operation, case.path):
        assert status >= 400, f"status {status} without the right {operation['x-turnstile']['right']}"
        is_right = case.meta is not None and case.meta.generation.mode.is_positive
        if is_right and status != 400:
            assert code == "missing_right", f"status {status}, {code}"
        assert status != 401, code
    else:
        assert status != 401, code


def is_beyond_desk(operation, path):
    right = operation.get("x-turnstile", {}).get("right")
    return right is not None and right not in RIGHTS_OF_DESK and not path.endswith("/whoami")


# Answers of the door itself, before it knows the operation: `default` in the document stands for them.
OF_THE_DOOR = {401, 405} if CALLER == "stranger" else {405}


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

    Whoever has a key shows it; no other key and no session is shown.
    """
    if KEY:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {KEY}"}
    else:
        (case.headers or {}).pop("Authorization", None)
    (case.cookies or {}).pop("turnstile_session", None)
    # The first key of an administrator would make the server ask for one ever after.
    if (case.path_parameters or {}).get("role") == "admin":
        case.path_parameters["role"] = "reader"
    # With a small quota of its own, this caller would hear of nothing else.
    if case.path.endswith("/quota") and (case.path_parameters or {}).get("principal") == "root":
        case.path_parameters["principal"] = "desk"
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    # A load that lasts would slow down all requests behind it.
    if case.path == "/v1/lab/runs" and isinstance(case.body, dict):
        case.body |= {"clients": 1, "seconds": 1}
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
