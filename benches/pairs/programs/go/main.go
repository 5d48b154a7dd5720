// The shapes of programs that `benches/overhead` measures, in Go.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const children = 9

type part struct {
	pulumi.ResourceState
}

type thing struct {
	pulumi.CustomResourceState
}

func newPart(ctx *pulumi.Context, name string) (*part, error) {
	made := &part{}
	if err := ctx.RegisterComponentResource("bench:index:Part", name, made); err != nil {
		return nil, err
	}
	return made, ctx.RegisterResourceOutputs(made, pulumi.Map{"label": pulumi.String(name)})
}

func newThing(ctx *pulumi.Context, name string, value pulumi.Input, options ...pulumi.ResourceOption) (*thing, error) {
	made := &thing{}
	return made, ctx.RegisterResource("pulumi:index:Stash", name, pulumi.Map{"input": value}, made, options...)
}

func components(ctx *pulumi.Context, count int) error {
	for index := range count {
		if _, err := newPart(ctx, fmt.Sprintf("part-%d", index)); err != nil {
			return err
		}
	}
	return nil
}

func resources(ctx *pulumi.Context, count int) error {
	for index := range count {
		value := pulumi.String(fmt.Sprintf("value %d", index))
		if _, err := newThing(ctx, fmt.Sprintf("thing-%d", index), value); err != nil {
			return err
		}
	}
	return nil
}

// Components with children, most of which use something of the first one.
func mixed(ctx *pulumi.Context, count int) error {
	for index := range count / (children + 1) {
		parent, err := newPart(ctx, fmt.Sprintf("part-%d", index))
		if err != nil {
			return err
		}
		below := pulumi.Parent(parent)
		first, err := newThing(ctx, fmt.Sprintf("thing-%d-0", index), pulumi.String(fmt.Sprintf("value %d", index)), below)
		if err != nil {
			return err
		}
		for child := 1; child < children; child++ {
			value := pulumi.Sprintf("beside %s", first.URN())
			if _, err := newThing(ctx, fmt.Sprintf("thing-%d-%d", index, child), value, below); err != nil {
				return err
			}
		}
	}
	return nil
}

// Notes when the first registration has been answered.
func one(ctx *pulumi.Context, _ int) error {
	made, err := newPart(ctx, "part")
	if err != nil {
		return err
	}
	made.URN().ApplyT(func(pulumi.URN) error {
		now := strconv.FormatInt(time.Now().UnixNano(), 10)
		return os.WriteFile(os.Getenv("BENCH_NOTE"), []byte(now), 0o600)
	})
	return nil
}

func main() {
	shapes := map[string]func(*pulumi.Context, int) error{
		"components": components, "resources": resources, "mixed": mixed, "one": one,
	}
	shape, ok := shapes[os.Getenv("BENCH_SHAPE")]
	if !ok {
		// What the program takes before it does anything.
		return
	}
	pulumi.Run(func(ctx *pulumi.Context) error {
		count, err := strconv.Atoi(os.Getenv("BENCH_COUNT"))
		if err != nil {
			return err
		}
		return shape(ctx, count)
	})
}
