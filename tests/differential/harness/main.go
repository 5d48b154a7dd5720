// Runs operations of simulated stacks on the engine of the reference, in process.
//
// Each line of standard input is an operation with the state and the cloud that it starts from; each line of standard
// output is what the engine did. The simulation of Plumb writes the one and compares the other (README.md).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Longest line that is read.
const maxLine = 64 << 20

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), maxLine)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		answer, err := json.Marshal(answerTo(in.Bytes()))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = out.Write(append(answer, '\n'))
		if err := out.Flush(); err != nil {
			os.Exit(1)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// answerTo runs one operation. A panic of the engine is an observation like any other.
func answerTo(line []byte) (seen *observed) {
	defer func() {
		if reason := recover(); reason != nil {
			seen = &observed{Panic: fmt.Sprint(reason)}
		}
	}()
	var op operation
	if err := json.Unmarshal(line, &op); err != nil {
		return &observed{Panic: err.Error()}
	}
	return perform(&op)
}
