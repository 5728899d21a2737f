package main

import (
	"context"

	"github.com/redis/go-redis/v9"
)

type goRedisDoor struct{ *redis.Client }

func goRedis(address string) client {
	return goRedisDoor{redis.NewClient(&redis.Options{Addr: address})}
}

func (door goRedisDoor) do(words ...string) (any, error) {
	return door.Do(context.Background(), anys(words)...).Result()
}

func (door goRedisDoor) pipeline(commands [][]string) []any {
	return executed(door.Pipeline(), commands)
}

func (door goRedisDoor) multi(commands [][]string) []any {
	return executed(door.TxPipeline(), commands)
}

func (door goRedisDoor) hear(ready func()) string {
	subscriber := door.Subscribe(context.Background(), "rooms.events")
	defer subscriber.Close()
	_, err := subscriber.Receive(context.Background())
	equal(err, nil)
	ready()
	message, err := subscriber.ReceiveMessage(context.Background())
	equal(err, nil)
	return message.Payload
}

func executed(pipeline redis.Pipeliner, commands [][]string) []any {
	for _, command := range commands {
		pipeline.Do(context.Background(), anys(command)...)
	}
	sent, err := pipeline.Exec(context.Background())
	equal(err, nil)
	replies := []any{}
	for _, command := range sent {
		replies = append(replies, command.(*redis.Cmd).Val())
	}
	return replies
}

func anys(words []string) []any {
	all := []any{}
	for _, word := range words {
		all = append(all, word)
	}
	return all
}
