// Peers of a cluster of ours: an etcd server, and loads on etcd and on NATS JetStream.
//
//	peers etcd-server ARGUMENTS OF ETCD
//	peers etcd COUNT SECONDS ENDPOINT...
//	peers nats COUNT SECONDS BYTES URL...
//
// A load has COUNT requests under way, each worker one after the other, for so many seconds after a second that
// is not counted. It prints requests a second, and the median and 99th percentile of their times in microseconds.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

// warmUp is not counted: connections are new, and caches cold.
const warmUp = time.Second

func main() {
	switch name := argument(1); name {
	case "etcd-server":
		etcdmain.Main(append([]string{"etcd"}, os.Args[2:]...))
	case "etcd":
		etcd(number(2), seconds(3), os.Args[4:])
	case "nats":
		natsLoad(number(2), seconds(3), number(4), os.Args[5:])
	default:
		fail("there is no %q", name)
	}
}

// drive has workers ask until time is over. A worker's request is numbered, so that no two ask for the same.
func drive(count int, length time.Duration, ask func(worker int, request string) error) {
	begin := time.Now().Add(warmUp)
	end := begin.Add(length)
	run := rand.Uint64()
	times := make([][]time.Duration, count)
	var failures atomic.Int64
	var all sync.WaitGroup
	for worker := range count {
		all.Go(func() {
			for nth := 0; ; nth++ {
				asked := time.Now()
				if asked.After(end) {
					return
				}
				err := ask(worker, fmt.Sprintf("%x-%d-%d", run, worker, nth))
				answered := time.Now()
				if err != nil {
					failures.Add(1)
					fmt.Fprintln(os.Stderr, err)
					continue
				}
				if asked.After(begin) && answered.Before(end) {
					times[worker] = append(times[worker], answered.Sub(asked))
				}
			}
		})
	}
	all.Wait()
	sorted := slices.Concat(times...)
	slices.Sort(sorted)
	if len(sorted) == 0 || failures.Load() > 0 {
		fail("%d answers, %d failures", len(sorted), failures.Load())
	}
	at := func(share float64) int64 {
		return sorted[int(share*float64(len(sorted)-1))].Microseconds()
	}
	rate := float64(len(sorted)) / length.Seconds()
	fmt.Printf("%.3f %d %d\n", rate, at(0.5), at(0.99))
}

func argument(at int) string {
	if len(os.Args) <= at {
		fail("argument %d is missing", at)
	}
	return os.Args[at]
}

func number(at int) int {
	value, err := strconv.Atoi(argument(at))
	if err != nil || value < 1 {
		fail("argument %d is no number", at)
	}
	return value
}

func seconds(at int) time.Duration {
	return time.Duration(number(at)) * time.Second
}

func fail(what string, with ...any) {
	fmt.Fprintf(os.Stderr, what+"\n", with...)
	os.Exit(1)
}
