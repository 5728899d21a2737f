package main

import (
	"context"

	"github.com/valkey-io/valkey-go"
)

type valkeyDoor struct{ valkey.Client }

func valkeyClient(address string) client {
	door, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{address}})
	equal(err, nil)
	return valkeyDoor{door}
}

func (door valkeyDoor) do(words ...string) (any, error) {
	return door.Do(context.Background(), door.command(words)).ToAny()
}

func (door valkeyDoor) pipeline(commands [][]string) []any {
	asked := []valkey.Completed{}
	for _, words := range commands {
		asked = append(asked, door.command(words))
	}
	replies := []any{}
	for _, result := range door.DoMulti(context.Background(), asked...) {
		replies = append(replies, answer(result.ToAny()))
	}
	return replies
}

func (door valkeyDoor) multi(commands [][]string) (replies []any) {
	err := door.Dedicated(func(one valkey.DedicatedClient) error {
		asked := []valkey.Completed{door.command([]string{"MULTI"})}
		for _, words := range commands {
			asked = append(asked, door.command(words))
		}
		asked = append(asked, door.command([]string{"EXEC"}))
		results := one.DoMulti(context.Background(), asked...)
		replies = answer(results[len(results)-1].ToAny()).([]any)
		return nil
	})
	equal(err, nil)
	return replies
}

func (door valkeyDoor) hear(ready func()) (message string) {
	one, release := door.Dedicate()
	defer release()
	heard := make(chan string, 1)
	one.SetPubSubHooks(valkey.PubSubHooks{
		OnMessage: func(message valkey.PubSubMessage) { heard <- message.Message },
	})
	subscribe := door.B().Subscribe().Channel("rooms.events").Build()
	equal(one.Do(context.Background(), subscribe).Error(), nil)
	ready()
	return <-heard
}

func (door valkeyDoor) command(words []string) valkey.Completed {
	return door.B().Arbitrary(words...).Build()
}
