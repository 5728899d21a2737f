package main

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// etcd books: a key is written if nobody has it, a transaction each. A third of the workers is at each server.
func etcd(count int, length time.Duration, endpoints []string) {
	var clients []*clientv3.Client
	for _, endpoint := range endpoints {
		client, err := clientv3.New(clientv3.Config{
			Endpoints: []string{endpoint}, DialTimeout: 10 * time.Second,
		})
		if err != nil {
			fail("%s: %v", endpoint, err)
		}
		defer client.Close()
		clients = append(clients, client)
	}
	drive(count, length, func(worker int, request string) error {
		client := clients[worker%len(clients)]
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		key := "bench/" + request + "/2027-01-01"
		free := clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
		answer, err := client.Txn(ctx).If(free).Then(clientv3.OpPut(key, "ada 234123412346")).Commit()
		if err == nil && !answer.Succeeded {
			return errors.New(key + " was taken")
		}
		return err
	})
}
