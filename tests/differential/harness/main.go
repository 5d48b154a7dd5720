// Runs operations of simulated stacks on the engine of the reference, in process.
//
// Each line of standard input is an operation with the state and the cloud that it starts from; each line of standard
// output is what the engine did. The simulation of Plumb writes the one and compares the other (README.md).
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
	"time"
)

// Longest line that is read.
const maxLine = 64 << 20

// Operations are short and leave nothing behind: memory is cheaper than looking for what is unused after each of them.
const (
	memory  = 1 << 30
	garbage = 1600
)

// patience is the time after which an operation that does not end is looked at: if nothing was heard of it since the last
// look, it never will end.
const patience = 1500 * time.Millisecond

func main() {
	if name := os.Getenv("PLUMB_PROFILE"); name != "" {
		file, err := os.Create(name)
		if err != nil || pprof.StartCPUProfile(file) != nil {
			fmt.Fprintln(os.Stderr, "no profile can be written to", name)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(memory)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), maxLine)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		answer, err := json.Marshal(patiently(bytes.Clone(in.Bytes())))
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

// patiently gives an operation up that does not end; what it has begun stays behind.
func patiently(line []byte) *observed {
	done := make(chan *observed, 1)
	signs := &atomic.Int64{}
	go func() { done <- answerTo(line, signs) }()
	for heard := int64(-1); ; {
		select {
		case seen := <-done:
			return seen
		case <-time.After(patience):
		}
		now := signs.Load()
		if now == heard {
			return &observed{Panic: "the engine does not end"}
		}
		heard = now
	}
}

// answerTo runs one operation; signs counts what is heard of it. A panic of the engine is an observation like any other.
func answerTo(line []byte, signs *atomic.Int64) (seen *observed) {
	defer func() {
		if reason := recover(); reason != nil {
			seen = &observed{Panic: fmt.Sprint(reason)}
		}
	}()
	var op operation
	if err := json.Unmarshal(line, &op); err != nil {
		return &observed{Panic: err.Error()}
	}
	return perform(&op, signs)
}
