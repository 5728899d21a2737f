"""A session of websockets at the exchange's feed, beside redis-py at the RESP door:
`websockets_py.py HTTP_ADDRESS RESP_PORT`, prints `ok` at the end."""

import json
import sys
import time

import redis
from websockets.sync.client import connect

ADDRESS, PORT = sys.argv[1], int(sys.argv[2])
FEED = f"ws://{ADDRESS}/v1/exchange/feed"
SYMBOL = "PY"

door = redis.Redis(port=PORT, protocol=3, decode_responses=True, socket_timeout=10)


def equal(found, expected):
    if found != expected:
        sys.exit(f"found    {found!r}\nexpected {expected!r}")


def ask(socket, **message):
    socket.send(json.dumps(message))
    return hear(socket)


def hear(socket):
    return json.loads(socket.recv(timeout=10))


def order(account, side, quantity, price):
    reply = door.execute_command("EXCHANGE.PLACE-ORDER", account, SYMBOL, side, quantity, price)
    equal(reply["outcome"], "done")
    return reply["order"]


for account in ("ada", "bob"):
    equal(door.execute_command("EXCHANGE.CREATE-ACCOUNT", account, "1000")["outcome"], "done")
equal(door.execute_command("EXCHANGE.GRANT", "bob", SYMBOL, "100")["outcome"], "done")

with connect(FEED) as socket:
    first = ask(socket, op="subscribe", channel="book", symbol=SYMBOL, id="b")
    equal((first["op"], first["id"], first["seq"]), ("snapshot", "b", 0))
    equal(first["data"], {"bids": [], "asks": []})

    # What comes through one door is told at the other, each change once and in order.
    seq, levels = 0, {}
    for number in range(50):
        order("bob", "SELL", "1", str(10 + number % 5))
        order("ada", "BUY", "0.5", str(6 + number % 5))
    while seq < 100:
        told = hear(socket)
        equal((told["op"], told["prev_seq"], told["epoch"]), ("delta", seq, first["epoch"]))
        seq = told["seq"]
        for change in told["data"]["changes"]:
            levels[change["side"], change["price"]] = change["quantity"]
    depth = door.execute_command("EXCHANGE.GET-DEPTH", SYMBOL, "LEVELS", "100")
    book = {
        (side, level["price"]): level["quantity"]
        for side, name in (("buy", "bids"), ("sell", "asks"))
        for level in depth[name]
    }
    equal({place: quantity for place, quantity in levels.items() if quantity != "0"}, book)
    equal(depth["seq"], seq)

with connect(FEED) as socket:
    equal(ask(socket, op="ping", id=1), {"op": "pong", "id": 1})
    wrong = ask(socket, op="place_order", account="ada")
    equal((wrong["op"], wrong["code"]), ("error", "invalid_request"))
    kept = order("ada", "BUY", "1", "2")
    ask(socket, op="on_disconnect", orders="cancel")
    placed = ask(socket, op="place_order", id=2, account="ada", symbol=SYMBOL, side="buy", quantity="1", limit="1")
    equal((placed["op"], placed["id"], placed["data"]["state"]), ("done", 2, "open"))

end = time.monotonic() + 10
while True:
    status = door.execute_command("EXCHANGE.GET-ORDER", placed["data"]["order"])
    if status["state"] == "cancelled":
        break
    if time.monotonic() > end:
        sys.exit(f"still open: {status}")
equal(door.execute_command("EXCHANGE.GET-ORDER", kept)["state"], "open")
print("ok")
