// A session of node-redis against the RESP door: `node_redis.mjs PORT`, prints `ok` at the end.
// The folder that holds its `node_modules` comes from the environment.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.TURNSTILE_TEST_NODE_FOLDER}/`);
const { createClient } = require("redis");

const ADA = "234123412346";
const BOB = "999941057058";
const ROOM = "node";

const door = createClient({ url: `redis://127.0.0.1:${process.argv[2]}`, RESP: 3 });
door.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
await door.connect();

const book = (arrival, departure) => ["ROOMS.BOOK", "bench", ROOM, arrival, departure, "ada", ADA];
const send = async (...words) => plain(await door.sendCommand(words));

/** Maps come as objects without a prototype; what they hold is compared. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) value = Object.fromEntries(value);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

function done(reply, fields) {
  const { reference, position } = reply;
  assert.deepEqual(reply, { outcome: "done", reference, position, ...fields });
  assert.ok(reference.startsWith("R") && Number.isInteger(position), `${reference} ${position}`);
  return reference;
}

function refused(reply, reason, more = {}) {
  const { position, ...rest } = reply;
  assert.deepEqual(rest, { outcome: "refused", reason, ...more });
}

async function booksAndCancels() {
  const reference = done(await send(...book("2027-03-01", "2027-03-04")), { room: ROOM });
  const again = await send(...book("2027-03-03", "2027-03-06"));
  refused(again, "sold_out", { nights: ["2027-03-03"] });

  const { since, principal, position, ...entry } = await send("ROOMS.LOOK-UP", reference);
  assert.deepEqual(entry, {
    reference,
    state: "booked",
    property: "bench",
    room: ROOM,
    arrival: "2027-03-01",
    departure: "2027-03-04",
    guest: "ada",
    id_number: "********2346",
  });

  refused(await send("ROOMS.CANCEL", reference, BOB), "wrong_guest");
  const { position: at, ...cancelled } = await send("ROOMS.CANCEL", reference, ADA);
  const stay = { arrival: "2027-03-01", departure: "2027-03-04" };
  assert.deepEqual(cancelled, { outcome: "done", room: ROOM, ...stay });
  refused(await send("ROOMS.LOOK-UP", reference), "ended");
}

async function batch(execute, month) {
  const commands = door.multi();
  commands.addCommand(book(`2027-${month}-01`, `2027-${month}-03`));
  commands.addCommand(book(`2027-${month}-02`, `2027-${month}-04`));
  const [first, second] = plain(await commands[execute]());
  done(first, { room: ROOM });
  refused(second, "sold_out", { nights: [`2027-${month}-02`] });
}

async function manyInFlight() {
  const night = (day) => `2027-07-${String(day).padStart(2, "0")}`;
  const days = Array.from({ length: 20 }, (_, index) => index + 1);
  const asked = days.map((day) => send(...book(night(day), night(day + 1))));
  const references = (await Promise.all(asked)).map((reply) => done(reply, { room: ROOM }));
  assert.equal(new Set(references).size, days.length);
}

/** What was done, without its position. */
function fields(reply) {
  const { outcome, position, ...rest } = reply;
  assert.equal(outcome, "done", JSON.stringify(reply));
  return rest;
}

async function aJourneyWaitsForALock() {
  const { xid } = fields(await send("TRAVEL.START"));
  fields(await send("TRAVEL.ADD-ITEM", `${xid}`, "car-node", "1", "40"));
  fields(await send("TRAVEL.ADD-CUSTOMER", `${xid}`, "CUSTOMER", "7"));

  // Another connection wants what this one has locked.
  const other = door.duplicate();
  await other.connect();
  const booking = other.sendCommand(["TRAVEL.BOOK", "7", "car-node"]);
  let waiting = [];
  while (waiting.length === 0) {
    waiting = (await send("TRAVEL.LIST-TRANSACTIONS", "STATE", "waiting")).transactions;
  }
  assert.deepEqual([waiting[0].waits_for, waiting[0].awaited], [xid, ["cars"]]);
  fields(await send("TRAVEL.COMMIT", `${xid}`));
  const { locator, price } = fields(plain(await booking));
  assert.equal(price, 40);
  await other.close();

  assert.equal((await send("TRAVEL.GET-ITINERARY", locator)).state, "booked");
  refused(await send("TRAVEL.BOOK", "7", "car-node"), "sold_out", { item: "car-node" });
  fields(await send("TRAVEL.CANCEL", locator));
}

async function twoPlayAndOneComesTooLate() {
  const [first, second] = ["node-1", "node-2"];
  const begun = fields(await send("GAMES.BEGIN", first, second, "tic-tac-toe"));
  const { match, to_move } = begun.state ?? begun;
  assert.equal(to_move, first);
  const move = (player, ply, cell) =>
    send("GAMES.MOVE", `${match}`, player, `${ply}`, `${cell}`);
  const moved = await Promise.all([move(first, 0, 1), move(second, 1, 4), move(first, 2, 2)]);
  assert.deepEqual(moved.map((reply) => fields(reply).ply), [1, 2, 3]);
  const { outcome, reason, state } = await move(second, 1, 9);
  assert.deepEqual([outcome, reason, state.board], ["refused", "stale", "xx.o....."]);
  fields(await move(second, 3, 5));
  const { ending, winner } = fields(await move(first, 4, 3));
  assert.deepEqual([ending, winner], ["line", first]);
  const tally = { played: 1, won: 1, lost: 0, drawn: 0 };
  assert.deepEqual(await send("GAMES.GET-TALLY", first, second), tally);
}

assert.equal(await door.ping(), "PONG");
await aJourneyWaitsForALock();
await twoPlayAndOneComesTooLate();
await booksAndCancels();
await batch("exec", "05");
await batch("execAsPipeline", "06");
await manyInFlight();
await assert.rejects(send("GET", "x"), /unknown command/);
assert.equal(await door.ping(), "PONG");
await door.close();
console.log("ok");
