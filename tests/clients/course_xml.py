"""A client of the course protocol, of the standard library alone: `course_xml.py PORT`.

It plays the worked example of the handout against the XML door, and prints `ok` at the end.
"""

import socket
import sys
import time
import xml.etree.ElementTree as tree

door = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=10)
STARTED = int(time.time())


def equal(found, expected):
    if found != expected:
        sys.exit(f"found    {found!r}\nexpected {expected!r}")


def send(root):
    body = tree.tostring(root, encoding="UTF-8", xml_declaration=True)
    door.sendall(str(len(body)).encode() + b"\n" + body)


def receive():
    """One answer: the protocol has no length for it, so it is read until it is whole."""
    parser = tree.XMLPullParser(["start", "end"])
    depth = 0
    while True:
        byte = door.recv(1)
        if not byte:
            sys.exit("the door closed")
        parser.feed(byte)
        for event, element in parser.read_events():
            depth += 1 if event == "start" else -1
            if depth == 0:
                equal(element.tag, "results")
                return [shown(child) for child in element]


def shown(element):
    """An element as a value; the time of an execution is checked and left out."""
    attributes = dict(element.attrib)
    at = attributes.pop("time", None)
    if at is not None and not STARTED <= int(at) <= int(time.time()):
        sys.exit(f"the time {at} is not in seconds of now")
    children = [shown(child) for child in element]
    return (element.tag, attributes, element.text or "", children)


def ask(root):
    send(root)
    return receive()


def leaf(tag, attributes, text=""):
    return (tag, attributes, text, [])


def create(*children):
    root = tree.Element("create")
    root.extend(children)
    return root


def transactions(account, *children):
    root = tree.Element("transactions", id=account)
    root.extend(children)
    return root


def shares(symbol, **accounts):
    element = tree.Element("symbol", sym=symbol)
    for account, number in accounts.items():
        tree.SubElement(element, "account", id=account.strip("_")).text = number
    return element


def order(amount, limit):
    return tree.Element("order", sym="X", amount=amount, limit=limit)


def query(number):
    return tree.Element("query", id=number)


def opens_accounts():
    bank = {"1": "100000", "2": "51200", "3": "80000"}
    accounts = [tree.Element("account", id=number, balance=cash) for number, cash in bank.items()]
    symbol = shares("X", _2="1000", _3="400", _9="1")
    again = tree.Element("account", id="1", balance="5")
    answers = ask(create(*accounts, symbol, again))
    equal(answers[:3], [leaf("created", {"id": number}) for number in bank])
    equal(answers[3], leaf("created", {"sym": "X", "id": "2"}))
    equal(answers[4], leaf("created", {"sym": "X", "id": "3"}))
    equal(answers[5], leaf("error", {"sym": "X", "id": "9"}, "there is no such account"))
    equal(answers[6], leaf("error", {"id": "1"}, "the account exists"))


def plays_the_worked_example():
    """Six orders that do not match, sent without waiting; the seventh meets two of them."""
    orders = [
        ("1", "300", "125"),
        ("2", "-100", "130"),
        ("1", "200", "127"),
        ("2", "-500", "128"),
        ("2", "-200", "140"),
        ("2", "400", "125"),
        ("3", "-400", "124"),
    ]
    for account, amount, limit in orders:
        send(transactions(account, order(amount, limit)))
    for number, (_, amount, limit) in enumerate(orders, 1):
        opened = {"sym": "X", "amount": amount, "limit": limit, "id": str(number)}
        equal(receive(), [leaf("opened", opened)])

    first, seventh, third = ask(transactions("2", query("1"), query("7"), query("3")))
    low = leaf("executed", {"shares": "200", "price": "125"})
    high = leaf("executed", {"shares": "200", "price": "127"})
    opened = leaf("open", {"shares": "100"})
    equal(first, ("status", {"id": "1"}, "", [opened, low]))
    equal(seventh, ("status", {"id": "7"}, "", [high, low]))
    equal(third, ("status", {"id": "3"}, "", [high]))


def cancels_what_is_left():
    cancel = tree.Element("cancel", id="1")
    (refused,) = ask(transactions("2", cancel))
    equal(refused, leaf("error", {"id": "1"}, "it is another account's order"))
    cancelled, again, status = ask(transactions("1", cancel, cancel, query("1")))
    course = [
        leaf("canceled", {"shares": "100"}),
        leaf("executed", {"shares": "200", "price": "125"}),
    ]
    equal(cancelled, ("canceled", {"id": "1"}, "", course))
    equal(again, leaf("error", {"id": "1"}, "nothing of the order is open"))
    equal(status, ("status", {"id": "1"}, "", course))


def has_the_cash_that_it_should():
    """100000 less 200 at 125 and 200 at 127, to the cent: one more is refused."""
    free = 100_000 - 200 * 125 - 200 * 127
    refused, opened = ask(transactions("1", order("1", f"{free}.01"), order("1", str(free))))
    attributes = {"sym": "X", "amount": "1", "limit": f"{free}.01"}
    equal(refused, leaf("error", attributes, f"Insufficient funds: {free}.01 needed, {free} free"))
    equal(opened[0], "opened")


opens_accounts()
plays_the_worked_example()
cancels_what_is_left()
has_the_cash_that_it_should()
print("ok")
