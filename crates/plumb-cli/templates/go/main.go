package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		// Resources are declared here; what is exported are the outputs of the stack.
		ctx.Export("greeting", pulumi.String(fmt.Sprintf("Hello from %s in %s", ctx.Project(), ctx.Stack())))
		return nil
	})
}
