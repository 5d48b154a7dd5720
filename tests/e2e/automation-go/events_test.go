package automation

// Events, interrupts, and several operations at once.

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// collected are the events of an operation; the SDK closes the channel at its end.
func collected[T any](operation func(chan<- events.EngineEvent) (T, error)) ([]events.EngineEvent, error) {
	channel, done := make(chan events.EngineEvent), make(chan struct{})
	var found []events.EngineEvent
	go func() {
		for one := range channel {
			found = append(found, one)
		}
		close(done)
	}()
	_, err := operation(channel)
	within(done)
	return found, err
}

func summaries(found []events.EngineEvent) (number int) {
	for _, one := range found {
		if one.Error != nil {
			panic(one.Error)
		}
		if one.SummaryEvent != nil {
			number++
		}
	}
	return number
}

var _ = test("events of an update arrive in order, with a summary at the end", func(w *world) {
	stack := w.inline(func(ctx *pulumi.Context) error {
		if err := ctx.Log.Info("said", nil); err != nil {
			return err
		}
		return stashes(1)(ctx)
	})
	found, err := collected(func(channel chan<- events.EngineEvent) (auto.UpResult, error) {
		return stack.Up(ctx, optup.EventStreams(channel))
	})
	check(err)
	expect([]int{summaries(found), 1}, []int{1, 1})
	expect(found[0].PreludeEvent != nil, true)
	var steps []string
	said := false
	for at, one := range found {
		expect(at == 0 || one.Sequence > found[at-1].Sequence, true)
		if one.ResourcePreEvent != nil {
			steps = append(steps, string(one.ResourcePreEvent.Metadata.Op))
		}
		said = said || one.DiagnosticEvent != nil && strings.Contains(one.DiagnosticEvent.Message, "said")
	}
	// The stack, the resource, and the default provider between them.
	expect(steps, []string{"create", "create", "create"})
	expect(said, true)
})

var _ = test("events of every operation arrive", func(w *world) {
	stack := w.inline(stashes(1))
	must(stack.Up(ctx))
	for _, operation := range []func(chan<- events.EngineEvent) (any, error){
		func(c chan<- events.EngineEvent) (any, error) { return stack.Preview(ctx, optpreview.EventStreams(c)) },
		func(c chan<- events.EngineEvent) (any, error) { return stack.Refresh(ctx, optrefresh.EventStreams(c)) },
		func(c chan<- events.EngineEvent) (any, error) {
			return stack.PreviewRefresh(ctx, optrefresh.EventStreams(c))
		},
		func(c chan<- events.EngineEvent) (any, error) {
			return stack.PreviewDestroy(ctx, optdestroy.EventStreams(c))
		},
		func(c chan<- events.EngineEvent) (any, error) { return stack.Destroy(ctx, optdestroy.EventStreams(c)) },
	} {
		found, err := collected(operation)
		check(err)
		expect(summaries(found), 1)
	}
})

var _ = test("an early failure ends the call although there are no events", func(w *world) {
	stack := w.inline(nothing)
	// The SDK closes channels only where there were events.
	channel := make(chan events.EngineEvent)
	ended := background(func() error { _, err := stack.Up(ctx, optup.Color("green"), optup.EventStreams(channel)); return err })
	expectError(within(ended), "unsupported color option")
})

// waiting is a program that waits until it may end.
type waiting struct {
	started, finish chan struct{}
	once            sync.Once
}

func newWaiting() *waiting {
	return &waiting{started: make(chan struct{}), finish: make(chan struct{})}
}

func (w *waiting) program(ctx *pulumi.Context) error {
	if err := stashes(1)(ctx); err != nil {
		return err
	}
	w.once.Do(func() { close(w.started) })
	<-w.finish
	return nil
}

func background(work func() error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- work() }()
	return ended
}

var _ = test("an update under way is in the way of another", func(w *world) {
	program := newWaiting()
	stack := w.inline(program.program)
	first := background(func() error { _, err := stack.Up(ctx); return err })
	within(program.started)
	expect(classes(failed(stack.Up(ctx))), "concurrent")
	expect(classes(failed(stack.Destroy(ctx))), "concurrent")
	close(program.finish)
	check(within(first))
})

var _ = test("an interrupt ends an operation, and the next one goes on from there", func(w *world) {
	program := newWaiting()
	stack := w.inline(program.program)
	limited, cancel := context.WithCancel(ctx)
	first := background(func() error { _, err := stack.Up(limited); return err })
	within(program.started)
	cancel()
	close(program.finish)
	err := within(first)
	expectError(err, "code: 1")
	expect(classes(err), "")
	expect(must(stack.Up(ctx)).Summary.Result, "succeeded")
	expect(slices.Contains(names(stack), "a"), true)
})

var _ = test("cancel takes the lock of a run away", func(w *world) {
	program := newWaiting()
	stack := w.inline(program.program)
	first := background(func() error { _, err := stack.Up(ctx); return err })
	within(program.started)
	check(stack.Cancel(ctx))
	close(program.finish)
	expectError(within(first), "")
	must(stack.Up(ctx))
})

var _ = test("several stacks are updated at once from one process", func(w *world) {
	var ended []<-chan error
	all := []string{"one", "two", "three"}
	for _, name := range all {
		stack := w.named(name, func(ctx *pulumi.Context) error {
			ctx.Export("stack", pulumi.String(ctx.Stack()))
			return stashes(ctx.Stack())(ctx)
		})
		ended = append(ended, background(func() error {
			result, err := stack.Up(ctx)
			if err == nil {
				expect(result.Outputs["stack"].Value, name)
			}
			return err
		}))
	}
	for _, one := range ended {
		check(within(one))
	}
})
