"""Every Python client by its defaults: `defaults.py redis|valkey|coredis|glide PORT`; see `defaults.md`."""

import asyncio
import json
import sys

LIBRARY, PORT = sys.argv[1], int(sys.argv[2])
ROOM = f"py-{LIBRARY}"
ECHOES = [str(number) for number in range(20)]
DEADLINE_S = 30


def book(month, first, last):
    nights = (f"2027-{month}-{first:02}", f"2027-{month}-{last:02}")
    return ("ROOMS.BOOK", "bench", ROOM, *nights, "ada", "234123412346")


STAY, IN_BATCH, HEARD = book("03", 1, 4), book("04", 1, 2), book("05", 1, 2)


def equal(found, expected):
    if found != expected:
        sys.exit(f"found    {found!r}\nexpected {expected!r}")


def plain(value):
    """Bytes as text, at any depth."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {plain(name): plain(field) for name, field in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(field) for field in value]
    return value


def verdict(reply):
    """What was decided, in either form of an answer."""
    reply = plain(reply)
    if isinstance(reply, dict):
        return (reply["outcome"], reply.get("room") or reply["reason"])
    return ("done", reply[2]) if reply[0] == 1 else ("refused", reply[1])


DONE, SOLD_OUT = ("done", ROOM), ("refused", "sold_out")


def is_event(message):
    event = json.loads(plain(message))
    equal((event["kind"], event["room"]), ("booked", ROOM))


def blocking(library):
    """redis-py, and valkey-py, which began as its copy."""
    door = library.Redis(port=PORT)
    equal(door.ping(), True)
    with door.pipeline(transaction=False) as pipeline:
        for number in ECHOES:
            pipeline.execute_command("ECHO", number)
        equal(plain(pipeline.execute()), ECHOES)
    try:
        sys.exit(f"no error: {door.get('x')!r}")
    except library.ResponseError as error:
        equal("unknown command" in str(error), True)
    equal(verdict(door.execute_command(*STAY)), DONE)
    equal(verdict(door.execute_command(*STAY)), SOLD_OUT)
    with door.pipeline(transaction=True) as pipeline:
        pipeline.execute_command(*IN_BATCH)
        pipeline.execute_command(*IN_BATCH)
        equal([verdict(reply) for reply in pipeline.execute()], [DONE, SOLD_OUT])
    with door.pubsub() as subscriber:
        subscriber.subscribe("rooms.events")
        equal(subscriber.get_message(timeout=DEADLINE_S)["type"], "subscribe")
        door.execute_command(*HEARD)
        is_event(subscriber.get_message(timeout=DEADLINE_S)["data"])


async def with_coredis():
    import coredis

    def command(client, words):
        return client.create_request(words[0].encode(), *words[1:], callback=lambda reply: reply)

    async with coredis.Redis(port=PORT) as door:
        equal(plain(await door.ping()), "PONG")
        async with door.pipeline(transaction=False) as pipeline:
            echoes = [pipeline.echo(number) for number in ECHOES]
        equal(plain(await asyncio.gather(*echoes)), ECHOES)
        try:
            sys.exit(f"no error: {await door.get('x')!r}")
        except coredis.exceptions.ResponseError as error:
            equal("unknown command" in str(error), True)
        equal(verdict(await command(door, STAY)), DONE)
        equal(verdict(await command(door, STAY)), SOLD_OUT)
        async with door.pipeline(transaction=True) as pipeline:
            replies = [command(pipeline, IN_BATCH), command(pipeline, IN_BATCH)]
        equal([verdict(await reply) for reply in replies], [DONE, SOLD_OUT])
        async with door.pubsub(channels=["rooms.events"]) as events:
            equal((await events.get_message(timeout=DEADLINE_S))["type"], "subscribe")
            await command(door, HEARD)
            is_event((await events.get_message(timeout=DEADLINE_S))["data"])


async def with_glide():
    import glide

    here = [glide.NodeAddress("127.0.0.1", PORT)]
    door = await glide.GlideClient.create(glide.GlideClientConfiguration(here))
    equal(plain(await door.ping()), "PONG")
    equal(plain(await asyncio.gather(*[door.echo(number) for number in ECHOES])), ECHOES)
    batch = glide.Batch(is_atomic=False)
    for number in ECHOES:
        batch.echo(number)
    equal(plain(await door.exec(batch, raise_on_error=True)), ECHOES)
    try:
        sys.exit(f"no error: {await door.get('x')!r}")
    except glide.RequestError as error:
        equal("unknown command" in str(error), True)
    equal(verdict(await door.custom_command(list(STAY))), DONE)
    equal(verdict(await door.custom_command(list(STAY))), SOLD_OUT)
    batch = glide.Batch(is_atomic=True)
    batch.custom_command(list(IN_BATCH))
    batch.custom_command(list(IN_BATCH))
    replies = await door.exec(batch, raise_on_error=True)
    equal([verdict(reply) for reply in replies], [DONE, SOLD_OUT])

    modes = glide.GlideClientConfiguration.PubSubChannelModes
    subscriptions = glide.GlideClientConfiguration.PubSubSubscriptions(
        channels_and_patterns={modes.Exact: {"rooms.events"}}, callback=None, context=None
    )
    configuration = glide.GlideClientConfiguration(here, pubsub_subscriptions=subscriptions)
    subscriber = await glide.GlideClient.create(configuration)
    await door.custom_command(list(HEARD))
    is_event((await subscriber.get_pubsub_message()).message)
    await subscriber.close()
    await door.close()


async def in_time(session):
    await asyncio.wait_for(session(), DEADLINE_S)


match LIBRARY:
    case "redis" | "valkey":
        blocking(__import__(LIBRARY))
    case "coredis":
        asyncio.run(in_time(with_coredis))
    case "glide":
        asyncio.run(in_time(with_glide))
print("ok")
