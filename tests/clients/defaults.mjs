// Every Node client by its defaults: `defaults.mjs redis|ioredis|iovalkey|glide PORT`; see `defaults.md`.
// The folder that holds `node_modules` comes from the environment.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.TURNSTILE_TEST_NODE_FOLDER}/`);
const [library, port] = [process.argv[2], Number(process.argv[3])];
const room = `node-${library}`;

const book = (month, first, last) =>
  ["ROOMS.BOOK", "bench", room, `2027-${month}-0${first}`, `2027-${month}-0${last}`, "ada", "234123412346"];
const stay = book("03", 1, 4);
const inBatch = book("04", 1, 2);
const heard = book("05", 1, 2);
const echoes = Array.from({ length: 20 }, (_, number) => `${number}`);

/** Maps as objects, at any depth: GLIDE has arrays of pairs of `key` and `value`. */
function plain(value) {
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (Array.isArray(value) && value.length > 0 && value.every((pair) => pair?.key !== undefined))
    return plain(Object.fromEntries(value.map((pair) => [pair.key, pair.value])));
  if (Array.isArray(value)) return value.map(plain);
  return value;
}

/** What was decided, in either form of an answer. */
function verdict(reply) {
  const answer = plain(reply);
  // ioredis has maps as flat arrays.
  if (answer[0] === "outcome")
    return verdict(Object.fromEntries(answer.flatMap((name, at) => (at % 2 ? [] : [[name, answer[at + 1]]]))));
  if (!Array.isArray(answer)) return [answer.outcome, answer.room ?? answer.reason];
  return answer[0] === 1 ? ["done", answer[2]] : ["refused", answer[1]];
}

const done = ["done", room];
const soldOut = ["refused", "sold_out"];

function isEvent(message) {
  const event = JSON.parse(message);
  assert.deepEqual([event.kind, event.room], ["booked", room]);
}

async function withNodeRedis() {
  const { createClient } = require("redis");
  const door = createClient({ url: `redis://127.0.0.1:${port}` });
  await door.connect();
  assert.equal(await door.ping(), "PONG");
  assert.deepEqual(await Promise.all(echoes.map((number) => door.echo(number))), echoes);
  await assert.rejects(door.get("x"), /unknown command/);
  assert.deepEqual(verdict(await door.sendCommand(stay)), done);
  assert.deepEqual(verdict(await door.sendCommand(stay)), soldOut);
  const replies = await door.multi().addCommand(inBatch).addCommand(inBatch).exec();
  assert.deepEqual(replies.map(verdict), [done, soldOut]);
  const subscriber = await door.duplicate().connect();
  const message = await new Promise(async (hear) => {
    await subscriber.subscribe("rooms.events", hear);
    await door.sendCommand(heard);
  });
  isEvent(message);
  await subscriber.close();
  await door.close();
}

/** ioredis, and iovalkey, which began as its copy. */
async function withIoredis(Redis) {
  const door = new Redis(port);
  assert.equal(await door.ping(), "PONG");
  const pipeline = door.pipeline();
  for (const number of echoes) pipeline.echo(number);
  assert.deepEqual(await pipeline.exec(), echoes.map((number) => [null, number]));
  await assert.rejects(door.get("x"), /unknown command/);
  assert.deepEqual(verdict(await door.call(...stay)), done);
  assert.deepEqual(verdict(await door.call(...stay)), soldOut);
  const replies = await door.multi().call(...inBatch).call(...inBatch).exec();
  assert.deepEqual(replies.map(([error, reply]) => [error, ...verdict(reply)]), [[null, ...done], [null, ...soldOut]]);
  const subscriber = door.duplicate();
  await subscriber.subscribe("rooms.events");
  const message = await new Promise((hear) => {
    subscriber.on("message", (_channel, message) => hear(message));
    door.call(...heard);
  });
  isEvent(message);
  subscriber.disconnect();
  door.disconnect();
}

async function withGlide() {
  const { Batch, GlideClient, GlideClientConfiguration, Logger } = require("@valkey/valkey-glide");
  // It would log the error that is asked for below.
  Logger.setLoggerConfig("error");
  const addresses = [{ host: "127.0.0.1", port }];
  const door = await GlideClient.createClient({ addresses });
  assert.equal(await door.ping(), "PONG");
  const pipeline = new Batch(false);
  for (const number of echoes) pipeline.echo(number);
  assert.deepEqual(await door.exec(pipeline, true), echoes);
  await assert.rejects(door.get("x"), /unknown command/);
  assert.deepEqual(verdict(await door.customCommand(stay)), done);
  assert.deepEqual(verdict(await door.customCommand(stay)), soldOut);
  const batch = new Batch(true).customCommand(inBatch).customCommand(inBatch);
  assert.deepEqual((await door.exec(batch, true)).map(verdict), [done, soldOut]);
  const { Exact } = GlideClientConfiguration.PubSubChannelModes;
  const pubsubSubscriptions = { channelsAndPatterns: { [Exact]: new Set(["rooms.events"]) } };
  const subscriber = await GlideClient.createClient({ addresses, pubsubSubscriptions });
  await door.customCommand(heard);
  isEvent((await subscriber.getPubSubMessage()).message);
  subscriber.close();
  door.close();
}

const sessions = {
  redis: withNodeRedis,
  ioredis: () => withIoredis(require("ioredis")),
  iovalkey: () => withIoredis(require("iovalkey")),
  glide: withGlide,
};
await sessions[library]();
console.log("ok");
process.exit(0);
