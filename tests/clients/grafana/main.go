// Reads dashboards by the schema that Grafana publishes, and says what in them is wrong or unknown to it.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	// The panels and the queries of Prometheus have schemas of their own.
	plugins.RegisterDefaultPlugins()
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			fail(path, err)
		}
		var read dashboard.Dashboard
		// It returns a list of faults, which is never nil.
		if err := read.UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
			fail(path, err)
		}
		if err := read.Validate(); err != nil {
			fail(path, err)
		}
		fmt.Println(path, "is valid:", len(read.Panels), "panels and rows")
	}
}

func fail(path string, err error) {
	fmt.Fprintln(os.Stderr, path+":", err)
	os.Exit(1)
}
