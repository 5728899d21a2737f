"""A session of redis-py against the RESP door: `redis_py.py PORT 2|3`, prints `ok` at the end."""

import sys

import redis

ADA, BOB = "234123412346", "999941057058"
PORT, PROTOCOL = int(sys.argv[1]), int(sys.argv[2])
ROOM = f"py{PROTOCOL}"

door = redis.Redis(port=PORT, protocol=PROTOCOL, decode_responses=True, socket_timeout=10)


def equal(found, expected):
    if found != expected:
        sys.exit(f"found    {found!r}\nexpected {expected!r}")


def book(room, arrival, departure, *more):
    return ("ROOMS.BOOK", "bench", room, arrival, departure, "ada", ADA, *more)


def done(reply, **fields):
    """Checks an answer in either form, and returns its reference and its position."""
    if PROTOCOL == 2:
        equal(reply[0], 1)
        equal([field for field in reply[1:] if field in fields.values()], list(fields.values()))
        return reply[1], next(field for field in reply[1:] if isinstance(field, int))
    equal({name: reply.get(name) for name in fields}, fields)
    equal(reply["outcome"], "done")
    return reply.get("reference"), reply["position"]


def refused(reply, reason, **data):
    if PROTOCOL == 2:
        equal(reply, [0, reason, *data.values()])
        return
    equal((reply["outcome"], reply["reason"]), ("refused", reason))
    equal({name: reply[name] for name in data}, data)


def entry(reference):
    reply = door.execute_command("ROOMS.LOOK-UP", reference)
    if PROTOCOL == 2:
        return dict(zip(reply[::2], reply[1::2]))
    return reply


def books_and_cancels():
    reply = door.execute_command(*book(ROOM, "2027-03-01", "2027-03-04"))
    reference, position = done(reply, room=ROOM)
    again = door.execute_command(*book(ROOM, "2027-03-03", "2027-03-06"))
    refused(again, "sold_out", nights=["2027-03-03"])

    found = entry(reference)
    expected = {
        "reference": reference,
        "state": "booked",
        "property": "bench",
        "room": ROOM,
        "arrival": "2027-03-01",
        "departure": "2027-03-04",
        "guest": "ada",
        "id_number": "********2346",
        "position": position,
    }
    equal({name: found[name] for name in expected}, expected)

    refused(door.execute_command("ROOMS.CANCEL", reference, BOB), "wrong_guest")
    cancelled = door.execute_command("ROOMS.CANCEL", reference, ADA)
    done(cancelled, room=ROOM, arrival="2027-03-01", departure="2027-03-04")
    refused(door.execute_command("ROOMS.LOOK-UP", reference), "ended")


def repeats_with_a_key():
    request = book(ROOM, "2027-04-01", "2027-04-02", "KEY", f"key-{ROOM}")
    first, second = door.execute_command(*request), door.execute_command(*request)
    if PROTOCOL == 2:
        equal(second, [*first, "replayed"])
    else:
        equal(second, {**first, "replayed": True})
    try:
        other = book(ROOM, "2027-04-05", "2027-04-06", "KEY", f"key-{ROOM}")
        sys.exit(f"the same key for another booking: {door.execute_command(*other)!r}")
    except redis.ResponseError as error:
        equal(str(error).split()[0], "IDEMMISMATCH")


def pipelines(transaction, month):
    with door.pipeline(transaction=transaction) as pipeline:
        for day in range(1, 21):
            nights = (f"2027-{month}-{day:02}", f"2027-{month}-{day + 1:02}")
            pipeline.execute_command(*book(ROOM, *nights))
        pipeline.execute_command(*book(ROOM, f"2027-{month}-20", f"2027-{month}-22"))
        *booked, last = pipeline.execute()
    answers = [done(reply, room=ROOM) for reply in booked]
    positions = [position for _, position in answers]
    equal(len({reference for reference, _ in answers}), 20)
    equal(positions, sorted(set(positions)))
    refused(last, "sold_out", nights=[f"2027-{month}-20"])


def errors_leave_the_connection_usable():
    for command in (("GET", "x"), ("ROOMS.BOOK", "bench"), book("?", "2027-01-01", "2027-01-02")):
        try:
            sys.exit(f"no error: {door.execute_command(*command)!r}")
        except redis.ResponseError:
            equal(door.ping(), True)


def travel(*words):
    return door.execute_command(*words)


def fields(reply, *names):
    """What was done, by name in either form; its position is not compared."""
    if PROTOCOL == 2:
        equal((reply[0], len(reply)), (1, len(names) + 2))
        return dict(zip(names, reply[1:]))
    equal((reply["outcome"], set(reply)), ("done", {"outcome", "position", *names}))
    return {name: reply[name] for name in names}


def journeys_wait_for_locks():
    flight, customer = f"flight-{PROTOCOL}", PROTOCOL
    first = fields(travel("TRAVEL.START"), "xid")["xid"]
    fields(travel("TRAVEL.ADD-ITEM", first, flight, 2, 100))
    added = travel("TRAVEL.ADD-CUSTOMER", first, "CUSTOMER", customer)
    equal(fields(added, "customer"), {"customer": customer})

    # Another connection wants what this one has locked.
    other = door.connection_pool.get_connection()
    other.send_command("TRAVEL.BOOK", customer, flight, "HOLD_MS", 60000)
    waiting = []
    while not waiting:
        listed = travel("TRAVEL.LIST-TRANSACTIONS", "STATE", "waiting")
        waiting = listed[1] if PROTOCOL == 2 else listed["transactions"]
    view = dict(zip(waiting[0][::2], waiting[0][1::2])) if PROTOCOL == 2 else waiting[0]
    equal((view["waits_for"], view["awaited"]), (first, ["flights"]))
    fields(travel("TRAVEL.COMMIT", first))
    late = other.read_response()
    if PROTOCOL == 3:
        # Who had to wait hears where it was decided: behind the position of its own command.
        decided, ordinal = late.pop("decided"), late.pop("ordinal")
        equal((decided > late["position"], ordinal >= 0), (True, True))
    held = fields(late, "locator", "price", "until")
    door.connection_pool.release(other)
    equal(held["price"], 100)

    shown = travel("TRAVEL.GET-ITINERARY", held["locator"])
    shown = dict(zip(shown[::2], shown[1::2])) if PROTOCOL == 2 else shown
    equal((shown["state"], shown["until"]), ("held", held["until"]))
    fields(travel("TRAVEL.CONFIRM", held["locator"]))
    fields(travel("TRAVEL.BOOK", customer, flight), "locator", "price", "until")
    sold_out = travel("TRAVEL.BOOK", customer, flight)
    if PROTOCOL == 2:
        equal(sold_out, [0, "sold_out", flight])
    else:
        equal((sold_out["reason"], sold_out["item"]), ("sold_out", flight))
    fields(travel("TRAVEL.CANCEL", held["locator"]))


def game(*words):
    return door.execute_command(*words)


def named(reply):
    """A map in either form."""
    return dict(zip(reply[::2], reply[1::2])) if PROTOCOL == 2 else reply


def two_play_and_one_comes_too_late():
    ada, bob = f"ada{PROTOCOL}", f"bob{PROTOCOL}"
    paired = ("state", "ticket", "activity")
    waiting = {"state": None, "ticket": None, "activity": "challenging"}
    equal(fields(game("GAMES.CHALLENGE", ada, bob, "tic-tac-toe"), *paired), waiting)
    begun = named(fields(game("GAMES.CHALLENGE", bob, ada, "tic-tac-toe"), *paired)["state"])
    equal((begun["board"], begun["to_move"]), (".........", ada))
    number = begun["match"]

    deed = ("match", "ply", "seq", "last", "to_move", "ending", "winner")
    moves = door.pipeline(transaction=False)
    for ply, (player, choice) in enumerate(zip((ada, bob) * 2, (1, 4, 2, 5))):
        moves.execute_command("GAMES.MOVE", number, player, ply, choice)
    replies = [fields(reply, *deed) for reply in moves.execute()]
    equal([reply["ply"] for reply in replies], [1, 2, 3, 4])

    late = game("GAMES.MOVE", number, bob, 1, 9)
    if PROTOCOL == 2:
        equal(late[:2], [0, "stale"])
        state = named(late[2])
    else:
        equal(late["reason"], "stale")
        state = late["state"]
    equal((state["board"], state["ply"], state["to_move"]), ("xx.oo....", 4, ada))
    last = fields(game("GAMES.MOVE", number, ada, 4, 3, "CLAIM", "wins", "KEY", f"win-{ada}"), *deed)
    equal((last["ending"], last["winner"], last["to_move"]), ("line", ada, None))

    tally = {"played": 1, "won": 0, "lost": 1, "drawn": 0}
    equal(named(game("GAMES.GET-TALLY", bob, ada)), tally)
    ticket = named(fields(game("GAMES.SEEK", ada, "gomoku"), *paired)["ticket"])
    equal((ticket["player"], ticket["reason"]), (ada, "alone"))
    fields(game("GAMES.WITHDRAW", ada))


equal(door.ping(), True)
journeys_wait_for_locks()
two_play_and_one_comes_too_late()
books_and_cancels()
repeats_with_a_key()
pipelines(True, "05")
pipelines(False, "06")
errors_leave_the_connection_usable()
print("ok")
