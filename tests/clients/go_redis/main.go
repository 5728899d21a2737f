// A session of go-redis against the RESP door: `go_redis PORT`, prints `ok` at the end.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	ada  = "234123412346"
	bob  = "999941057058"
	room = "go"
)

// reply is an answer as RESP3 gives it: a map.
type reply = map[any]any

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	door := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: 3})

	equal(door.Ping(ctx).Val(), "PONG")
	aJourneyWaitsForALock(ctx, door)
	twoPlayAndOneComesTooLate(ctx, door)
	booksAndCancels(ctx, door)
	batch(ctx, door.TxPipeline(), "05")
	batch(ctx, door.Pipeline(), "06")
	errorsLeaveTheConnectionUsable(ctx, door)
	fmt.Println("ok")
}

func booksAndCancels(ctx context.Context, door *redis.Client) {
	booked := send(ctx, door, book("2027-03-01", "2027-03-04")...)
	reference := done(booked, reply{"room": room})
	again := send(ctx, door, book("2027-03-03", "2027-03-06")...)
	refused(again, "sold_out", reply{"nights": []any{"2027-03-03"}})

	entry := send(ctx, door, "ROOMS.LOOK-UP", reference)
	equal(without(entry, "since", "principal"), reply{
		"reference": reference,
		"state":     "booked",
		"property":  "bench",
		"room":      room,
		"arrival":   "2027-03-01",
		"departure": "2027-03-04",
		"guest":     "ada",
		"id_number": "********2346",
		"position":  booked["position"],
	})

	refused(send(ctx, door, "ROOMS.CANCEL", reference, bob), "wrong_guest", nil)
	cancelled := send(ctx, door, "ROOMS.CANCEL", reference, ada)
	equal(without(cancelled, "position"), reply{
		"outcome": "done", "room": room, "arrival": "2027-03-01", "departure": "2027-03-04",
	})
	refused(send(ctx, door, "ROOMS.LOOK-UP", reference), "ended", nil)
}

func aJourneyWaitsForALock(ctx context.Context, door *redis.Client) {
	xid := fields(send(ctx, door, "TRAVEL.START"))["xid"]
	fields(send(ctx, door, "TRAVEL.ADD-ITEM", xid, "car-go", 1, 40))
	fields(send(ctx, door, "TRAVEL.ADD-CUSTOMER", xid, "CUSTOMER", 9))

	// Another connection wants what this one has locked.
	booked := make(chan reply)
	go func() { booked <- send(ctx, door, "TRAVEL.BOOK", 9, "car-go") }()
	waiting := []any{}
	for len(waiting) == 0 {
		found := send(ctx, door, "TRAVEL.LIST-TRANSACTIONS", "STATE", "waiting")
		waiting = found["transactions"].([]any)
	}
	view := waiting[0].(reply)
	equal([]any{view["waits_for"], view["awaited"]}, []any{xid, []any{"cars"}})
	fields(send(ctx, door, "TRAVEL.COMMIT", xid))
	journey := fields(<-booked)
	equal(journey["price"], int64(40))

	equal(send(ctx, door, "TRAVEL.GET-ITINERARY", journey["locator"])["state"], "booked")
	refused(send(ctx, door, "TRAVEL.BOOK", 9, "car-go"), "sold_out", reply{"item": "car-go"})
	fields(send(ctx, door, "TRAVEL.CANCEL", journey["locator"]))
}

func twoPlayAndOneComesTooLate(ctx context.Context, door *redis.Client) {
	const first, second = "go-1", "go-2"
	begun := fields(send(ctx, door, "GAMES.BEGIN", first, second, "tic-tac-toe"))
	if state, nested := begun["state"].(reply); nested {
		begun = state
	}
	equal(begun["to_move"], first)
	pipeline := door.Pipeline()
	moves := []*redis.Cmd{}
	for ply, cell := range []int{1, 4, 2, 5} {
		player := []string{first, second}[ply%2]
		moves = append(moves, pipeline.Do(ctx, "GAMES.MOVE", begun["match"], player, ply, cell))
	}
	_, err := pipeline.Exec(ctx)
	equal(err, nil)
	for ply, move := range moves {
		equal(fields(move.Val().(reply))["ply"], int64(ply+1))
	}
	late := send(ctx, door, "GAMES.MOVE", begun["match"], second, 1, 9)
	equal([]any{late["reason"], late["state"].(reply)["board"]}, []any{"stale", "xx.oo...."})
	last := fields(send(ctx, door, "GAMES.MOVE", begun["match"], first, 4, 3))
	equal([]any{last["ending"], last["winner"]}, []any{"line", first})
	tally := reply{"played": int64(1), "won": int64(1), "lost": int64(0), "drawn": int64(0)}
	equal(send(ctx, door, "GAMES.GET-TALLY", first, second), tally)
}

// fields checks that something was done, and returns the answer.
func fields(answer reply) reply {
	equal(answer["outcome"], "done")
	return answer
}

func batch(ctx context.Context, pipeline redis.Pipeliner, month string) {
	first := pipeline.Do(ctx, book("2027-"+month+"-01", "2027-"+month+"-03")...)
	second := pipeline.Do(ctx, book("2027-"+month+"-02", "2027-"+month+"-04")...)
	_, err := pipeline.Exec(ctx)
	equal(err, nil)
	done(first.Val().(reply), reply{"room": room})
	refused(second.Val().(reply), "sold_out", reply{"nights": []any{"2027-" + month + "-02"}})
}

func errorsLeaveTheConnectionUsable(ctx context.Context, door *redis.Client) {
	err := door.Get(ctx, "x").Err()
	if err == nil || !strings.Contains(err.Error(), "unknown command") {
		fail(err, "unknown command")
	}
	equal(door.Ping(ctx).Val(), "PONG")
}

func book(arrival, departure string) []any {
	return []any{"ROOMS.BOOK", "bench", room, arrival, departure, "ada", ada}
}

func send(ctx context.Context, door *redis.Client, words ...any) reply {
	value, err := door.Do(ctx, words...).Result()
	equal(err, nil)
	return value.(reply)
}

// done checks what was done and returns its reference.
func done(answer reply, fields reply) any {
	if position, whole := answer["position"].(int64); !whole || position < 1 {
		fail(answer["position"], "a position")
	}
	expected := reply{"outcome": "done", "reference": answer["reference"]}
	maps.Copy(expected, fields)
	equal(without(answer, "position"), expected)
	return answer["reference"]
}

func refused(answer reply, reason string, fields reply) {
	expected := reply{"outcome": "refused", "reason": reason}
	maps.Copy(expected, fields)
	equal(without(answer, "position"), expected)
}

func without(answer reply, names ...string) reply {
	rest := maps.Clone(answer)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}

func equal(found, expected any) {
	if !reflect.DeepEqual(found, expected) {
		fail(found, expected)
	}
}

func fail(found, expected any) {
	fmt.Fprintf(os.Stderr, "found    %#v\nexpected %#v\n", found, expected)
	panic("the answers differ")
}
