package main

import (
	"context"

	"github.com/redis/rueidis"
)

type rueidisDoor struct{ rueidis.Client }

func rueidisClient(address string) client {
	door, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}})
	equal(err, nil)
	return rueidisDoor{door}
}

func (door rueidisDoor) do(words ...string) (any, error) {
	return door.Do(context.Background(), door.command(words)).ToAny()
}

func (door rueidisDoor) pipeline(commands [][]string) []any {
	asked := []rueidis.Completed{}
	for _, words := range commands {
		asked = append(asked, door.command(words))
	}
	replies := []any{}
	for _, result := range door.DoMulti(context.Background(), asked...) {
		replies = append(replies, answer(result.ToAny()))
	}
	return replies
}

func (door rueidisDoor) multi(commands [][]string) (replies []any) {
	err := door.Dedicated(func(one rueidis.DedicatedClient) error {
		asked := []rueidis.Completed{door.command([]string{"MULTI"})}
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

func (door rueidisDoor) hear(ready func()) (message string) {
	one, release := door.Dedicate()
	defer release()
	heard := make(chan string, 1)
	one.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage: func(message rueidis.PubSubMessage) { heard <- message.Message },
	})
	subscribe := door.B().Subscribe().Channel("rooms.events").Build()
	equal(one.Do(context.Background(), subscribe).Error(), nil)
	ready()
	return <-heard
}

func (door rueidisDoor) command(words []string) rueidis.Completed {
	return door.B().Arbitrary(words...).Build()
}
