// An outside judge of histories: reads operations from its input, one JSON object a line, and has porcupine
// say whether there is one order that explains every answer and keeps the order of real time. It knows nothing
// of positions. Prints `ok`, or the part of the history that has no such order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is how long one part may take; a part that takes longer counts as not judged.
const patience = 120 * time.Second

// operation is what a client asked and was answered. Times are in nanoseconds of one steady clock.
type operation struct {
	Client int    `json:"client"`
	Call   int64  `json:"call"`
	Return int64  `json:"return"`
	Part   string `json:"part"`
	Op     string `json:"op"`
	Done   bool   `json:"done"`
	Reason string `json:"reason"`

	// Rooms: nights are bits.
	Reference string `json:"reference"`
	Room      string `json:"room"`
	Nights    uint64 `json:"nights"`
	Taken     uint64 `json:"taken"`
	Guest     int    `json:"guest"`

	// Orders.
	Order    int64 `json:"order"`
	IsBuy    bool  `json:"is_buy"`
	AtOnce   bool  `json:"at_once"`
	Quantity int64 `json:"quantity"`
	Price    int64 `json:"price"`
	Filled   int64 `json:"filled"`
	Value    int64 `json:"value"`
}

func main() {
	parts := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		var one operation
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fail("line %d: %v", count+1, err)
		}
		parts[one.Part] = append(parts[one.Part], porcupine.Operation{
			ClientId: one.Client, Input: one, Output: one, Call: one.Call, Return: one.Return,
		})
		count++
	}
	if err := lines.Err(); err != nil || count == 0 {
		fail("no history: %v", err)
	}
	for name, history := range parts {
		model, ok := modelOf(name)
		if !ok {
			fail("no model of %q", name)
		}
		switch porcupine.CheckOperationsTimeout(model, history, patience) {
		case porcupine.Ok:
		case porcupine.Illegal:
			fail("not linearizable: %s, %d operations", name, len(history))
		default:
			fail("not judged in time: %s, %d operations", name, len(history))
		}
	}
	fmt.Println("ok")
}

func modelOf(part string) (porcupine.Model, bool) {
	kind, name, _ := strings.Cut(part, " ")
	switch kind {
	case "room":
		return house([]string{name}), true
	case "rooms":
		return house(strings.Split(name, ",")), true
	case "symbol":
		return book(), true
	}
	return porcupine.Model{}, false
}

// stay is a booking or a hold that stands.
type stay struct {
	reference string
	room      string
	nights    uint64
	isHeld    bool
	guest     int
}

// house is rooms of which the first that is free is given.
func house(rooms []string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return []stay(nil) },
		Step: func(state, input, output any) (bool, any) {
			stays, asked := state.([]stay), input.(operation)
			at := slices.IndexFunc(stays, func(one stay) bool { return one.reference == asked.Reference })
			switch asked.Op {
			case "book", "hold":
				free := ""
				taken := uint64(0)
				for _, room := range rooms {
					taken = nightsOf(stays, room)
					if taken&asked.Nights == 0 {
						free = room
						break
					}
				}
				if !asked.Done {
					// Which nights of several rooms are named is for our own judge.
					named := len(rooms) > 1 || asked.Taken == taken&asked.Nights
					return free == "" && asked.Reason == "sold_out" && named, stays
				}
				if free == "" || asked.Room != free || at >= 0 {
					return false, stays
				}
				one := stay{asked.Reference, free, asked.Nights, asked.Op == "hold", asked.Guest}
				return true, sorted(append(slices.Clone(stays), one))
			case "confirm":
				if at < 0 {
					return !asked.Done && asked.Reason == "ended", stays
				}
				if !stays[at].isHeld {
					return !asked.Done && asked.Reason == "already_confirmed", stays
				}
				next := slices.Clone(stays)
				next[at].isHeld = false
				next[at].guest = asked.Guest
				return asked.Done && asked.Room == stays[at].room, next
			case "release":
				if at < 0 {
					return !asked.Done && asked.Reason == "ended", stays
				}
				if !stays[at].isHeld {
					return !asked.Done && asked.Reason == "already_confirmed", stays
				}
				return asked.Done, slices.Delete(slices.Clone(stays), at, at+1)
			case "cancel":
				if at < 0 {
					return !asked.Done && asked.Reason == "ended", stays
				}
				if stays[at].isHeld || stays[at].guest != asked.Guest {
					return !asked.Done && asked.Reason == "wrong_guest", stays
				}
				right := asked.Room == stays[at].room && asked.Nights == stays[at].nights
				return asked.Done && right, slices.Delete(slices.Clone(stays), at, at+1)
			}
			return false, stays
		},
		Equal: func(one, other any) bool { return slices.Equal(one.([]stay), other.([]stay)) },
	}
}

func nightsOf(stays []stay, room string) uint64 {
	nights := uint64(0)
	for _, one := range stays {
		if one.room == room {
			nights |= one.nights
		}
	}
	return nights
}

// sorted brings states that mean the same into one form.
func sorted(stays []stay) []stay {
	slices.SortFunc(stays, func(a, b stay) int { return strings.Compare(a.reference, b.reference) })
	return stays
}

// resting is an order that waits in the book.
type resting struct {
	order    int64
	isBuy    bool
	price    int64
	quantity int64
}

// book is the orders of one symbol, the earliest first: the best price trades, and of one price the earliest.
func book() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return []resting(nil) },
		Step: func(state, input, output any) (bool, any) {
			orders, asked := slices.Clone(state.([]resting)), input.(operation)
			if asked.Op == "cancel" {
				at := slices.IndexFunc(orders, func(one resting) bool { return one.order == asked.Order })
				if at < 0 {
					return !asked.Done && asked.Reason == "not_open", orders
				}
				right := asked.Done && asked.Quantity == orders[at].quantity
				return right, slices.Delete(orders, at, at+1)
			}
			if asked.Op != "place" || !asked.Done {
				return false, orders
			}
			left, value := asked.Quantity, int64(0)
			for left > 0 {
				at := best(orders, asked)
				if at < 0 {
					break
				}
				part := min(left, orders[at].quantity)
				left -= part
				value += part * orders[at].price
				orders[at].quantity -= part
				if orders[at].quantity == 0 {
					orders = slices.Delete(orders, at, at+1)
				}
			}
			if left > 0 && !asked.AtOnce {
				orders = append(orders, resting{asked.Order, asked.IsBuy, asked.Price, left})
			}
			return asked.Filled == asked.Quantity-left && asked.Value == value, orders
		},
		Equal: func(one, other any) bool { return slices.Equal(one.([]resting), other.([]resting)) },
	}
}

// best is the place of the order that the one asked for trades with first, -1 if there is none.
func best(orders []resting, asked operation) int {
	found := -1
	for at, one := range orders {
		if one.isBuy == asked.IsBuy {
			continue
		}
		if asked.IsBuy && one.price > asked.Price || !asked.IsBuy && one.price < asked.Price {
			continue
		}
		better := found < 0 || asked.IsBuy && one.price < orders[found].price ||
			!asked.IsBuy && one.price > orders[found].price
		if better {
			found = at
		}
	}
	return found
}

func fail(what string, with ...any) {
	fmt.Printf(what+"\n", with...)
	os.Exit(1)
}
