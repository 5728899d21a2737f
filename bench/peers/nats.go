package main

import (
	"time"

	"github.com/nats-io/nats.go"
)

// natsLoad publishes so many bytes each time to a stream like that of a log of ours, and waits for the
// acknowledgement. A third of the workers is at each broker.
func natsLoad(count int, length time.Duration, bytes int, urls []string) {
	var streams []nats.JetStreamContext
	for _, url := range urls {
		connection, err := nats.Connect(url)
		if err != nil {
			fail("%s: %v", url, err)
		}
		defer connection.Close()
		stream, err := connection.JetStream(nats.MaxWait(30 * time.Second))
		if err != nil {
			fail("%s: %v", url, err)
		}
		streams = append(streams, stream)
	}
	_, err := streams[0].AddStream(&nats.StreamConfig{
		Name: "RAW", Subjects: []string{"raw.>"}, Storage: nats.FileStorage, Replicas: len(urls),
		Discard: nats.DiscardNew, DenyDelete: true, Duplicates: 2 * time.Minute,
	})
	if err != nil {
		fail("stream: %v", err)
	}
	body := make([]byte, bytes)
	for at := range body {
		body[at] = byte(at * 31)
	}
	drive(count, length, func(worker int, request string) error {
		_, err := streams[worker%len(streams)].Publish("raw.bench", body, nats.MsgId(request))
		return err
	})
}
