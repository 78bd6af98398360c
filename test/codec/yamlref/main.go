// Reads YAML texts as Kubernetes does, for the differential test of our reader: one JSON string a line on standard input,
// one JSON answer a line on standard output: {"value": ..., "strict": "..."} or {"error": "..."}.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"sigs.k8s.io/yaml"
)

type answer struct {
	// Value is what the server makes of the text; of doubled keys the last one counts.
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
	// Strict is the complaint of the strict reader, which refuses doubled keys.
	Strict string `json:"strict,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if encodeErr := encoder.Encode(read(line)); encodeErr != nil {
				panic(encodeErr)
			}
		}
		if err != nil {
			return
		}
	}
}

func read(line []byte) (result answer) {
	var text string
	if err := json.Unmarshal(line, &text); err != nil {
		return answer{Error: "not a JSON string: " + err.Error()}
	}
	value, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return answer{Error: err.Error()}
	}
	result.Value = value
	if _, err := yaml.YAMLToJSONStrict([]byte(text)); err != nil {
		result.Strict = err.Error()
	}
	return result
}
