// Every Go client by its defaults: `go_defaults go-redis|rueidis|valkey PORT`; see `defaults.md`.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// client is a library with nothing set but host and port.
type client interface {
	do(words ...string) (any, error)
	pipeline(commands [][]string) []any
	multi(commands [][]string) []any
	// hear follows rooms.events, calls ready once it does, and returns the next message.
	hear(ready func()) string
}

var (
	done    = []string{"done", room()}
	soldOut = []string{"refused", "sold_out"}
)

func main() {
	time.AfterFunc(30*time.Second, func() { fail("no end", "one within 30 seconds") })
	address := "127.0.0.1:" + os.Args[2]
	door := map[string]func(string) client{
		"go-redis": goRedis, "rueidis": rueidisClient, "valkey": valkeyClient,
	}[os.Args[1]](address)

	equal(answer(door.do("PING")), "PONG")
	echoes, commands := []any{}, [][]string{}
	for number := range 20 {
		echoes = append(echoes, strconv.Itoa(number))
		commands = append(commands, []string{"ECHO", strconv.Itoa(number)})
	}
	equal(door.pipeline(commands), echoes)
	if _, err := door.do("GET", "x"); err == nil || !strings.Contains(err.Error(), "unknown command") {
		fail(err, "unknown command")
	}
	stay := book("2027-03-01", "2027-03-04")
	equal(verdict(answer(door.do(stay...))), done)
	equal(verdict(answer(door.do(stay...))), soldOut)
	inBatch := book("2027-04-01", "2027-04-02")
	replies := door.multi([][]string{inBatch, inBatch})
	equal([][]string{verdict(replies[0]), verdict(replies[1])}, [][]string{done, soldOut})
	message := door.hear(func() { answer(door.do(book("2027-05-01", "2027-05-02")...)) })
	event := map[string]any{}
	equal(json.Unmarshal([]byte(message), &event), nil)
	equal([]any{event["kind"], event["room"]}, []any{"booked", room()})
	fmt.Println("ok")
}

func room() string { return "go-" + os.Args[1] }

func book(arrival, departure string) []string {
	return []string{"ROOMS.BOOK", "bench", room(), arrival, departure, "ada", "234123412346"}
}

// answer is a reply that must not be an error.
func answer(reply any, err error) any {
	equal(err, nil)
	return reply
}

// verdict is what was decided, in either form of an answer.
func verdict(reply any) []string {
	if fields, flat := reply.([]any); flat {
		if fields[0] == int64(1) {
			return []string{"done", fields[2].(string)}
		}
		return []string{"refused", fields[1].(string)}
	}
	fields := map[string]any{}
	for _, name := range reflect.ValueOf(reply).MapKeys() {
		fields[fmt.Sprint(name)] = reflect.ValueOf(reply).MapIndex(name).Interface()
	}
	if fields["outcome"] == "done" {
		return []string{"done", fields["room"].(string)}
	}
	return []string{fields["outcome"].(string), fields["reason"].(string)}
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
