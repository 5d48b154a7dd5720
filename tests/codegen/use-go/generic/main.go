// Uses generated SDKs with generic types with a pretend provider, and looks at what is sent and what comes back.
package main

import (
	"errors"
	"fmt"

	lab "example.com/pulumi-lab/sdk/go/lab/x"
	"example.com/pulumi-lab/sdk/go/lab/x/box"
	"example.com/pulumi-shapes/sdk/v2/go/shapes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumix"
)

func main() {
	tell(map[string]func(ctx *pulumi.Context, pretend *mocks){
		"boxes":      boxes,
		"functions":  functions,
		"components": components,
		"pictures":   pictures,
	})
}

func boxes(ctx *pulumi.Context, pretend *mocks) {
	spare := pulumix.Apply(pulumix.Val("99"), func(code string) *box.LockArgs {
		return &box.LockArgs{Kind: pulumix.Val(box.KindKindKey), Code: pulumix.Ptr(code)}
	})
	args := &box.BoxArgs{
		Size:      pulumix.Val(1),
		Lock:      &box.LockArgs{Kind: pulumix.Val(box.KindKindKey), Spare: spare},
		PlainLock: &box.Lock{Kind: box.KindKindDigits},
		Password:  pulumix.Ptr("pw"),
		Spares:    pulumix.Array[*box.LockArgs]{spare},
		ByName:    pulumix.Map[*box.LockArgs]{"a": spare},
		Label:     pulumix.Val[any](3),
		Tint:      pulumix.Ptr("key"),
	}
	made, err := box.NewBox(ctx, "b", args)
	check(err)
	expect("the URN", value(made.URN()), pulumi.URN("urn:pulumi:stack::project::lab:box:Box::b"))
	inputs := pretend.made["b"].Inputs
	expect("a constant", inputs["apiVersion"].StringValue(), "v1")
	expect("a default of the environment", inputs["fast"].BoolValue(), false)
	inner := map[string]interface{}{"kind": "key", "code": "99"}
	expect("what is within", inputs["lock"].Mappable(), map[string]interface{}{"kind": "key", "code": "0000", "spare": inner})
	expect("what is plain", inputs["plainLock"].Mappable(), map[string]interface{}{"kind": "1234", "code": "0000"})
	expect("a secret", inputs["password"].IsSecret() && inputs["password"].SecretValue().Element.StringValue() == "pw", true)
	expect("a list", inputs["spares"].Mappable(), []interface{}{inner})
	expect("a map", inputs["byName"].Mappable(), map[string]interface{}{"a": inner})
	expect("a union", inputs["label"].NumberValue(), 3.0)
	expect("a relaxed enum", inputs["tint"].StringValue(), "key")
	request := pretend.made["b"].RegisterRPC
	expect("secret outputs", request.GetAdditionalSecretOutputs(), []string{"secretCode"})
	expect("the version", request.GetVersion(), "1.2.3")
	expect("a nested output", *value(made.Lock.Elem().Code()).(*string), "0000")
	expect("a nested enum", value(made.Lock.Elem().Kind()), box.KindKindKey)
	expect("an output", value(pulumix.Apply(made.Size, func(size int) int { return size + 1 })), 2)

	_, err = box.NewBox(ctx, "again", args)
	check(err)
	_, err = box.NewBox(ctx, "c", &box.BoxArgs{})
	expect("what is missing", fmt.Sprint(err), "invalid value for required argument 'Size'")
	_, err = box.NewBox(ctx, "c", nil)
	expect("that all is missing", err, errors.New("missing one or more required arguments"))
	found, err := box.GetBox(ctx, "old", pulumi.ID("some-id"), &box.BoxState{Size: pulumix.Ptr(9)})
	check(err)
	expect("the id", value(found.ID()), pulumi.ID("some-id"))
	expect("the state", pretend.made["old"].Inputs.Mappable(), map[string]interface{}{"size": 9.0})

	opened, err := made.Open(ctx, &box.BoxOpenArgs{Code: pulumix.Val("12")})
	check(err)
	expect("a method", value(opened.Content()), "opened with 12")
	peeked, err := made.Peek(ctx)
	check(err)
	expect("a plain method", peeked, 5)
}

func functions(ctx *pulumi.Context, _ *mocks) {
	found, err := lab.Find(ctx, &lab.FindArgs{Name: "x"})
	check(err)
	expect("a function", found.Ids, []string{"x", "7"})
	later := lab.FindOutput(ctx, lab.FindOutputArgs{Name: pulumix.Val("y"), Limit: pulumix.Ptr(2)})
	expect("its output", value(later.Ids()), []string{"y", "2"})
	filled := lab.FindOutput(ctx, lab.FindOutputArgs{Name: pulumix.Val("z")})
	expect("its default", value(filled.Ids().Index(pulumix.Val(1))), "7")
	three := 3
	sum, err := lab.Add(ctx, 2, &three)
	check(err)
	expect("arguments by position", sum, 5)
	expect("outputs by position", value(lab.AddOutput(ctx, pulumix.Val(2), nil)), 2)
	dots := shapes.LookupPictureOutput(ctx, shapes.LookupPictureOutputArgs{
		Main: &shapes.DotArgs{X: pulumix.Val(1.5), Level: pulumix.Ptr(shapes.LevelLevelHigh)},
	})
	level := shapes.LevelLevelHigh
	expect("objects of a function", value(dots.Dots()), []shapes.Dot{{X: 1.5, Level: &level}})
	expect("one of them", value(dots.Dots().Index(pulumix.Val(0)).X()), 1.5)
}

func components(ctx *pulumi.Context, pretend *mocks) {
	made, err := box.NewBox(ctx, "inside", &box.BoxArgs{Size: pulumix.Val(2)})
	check(err)
	shelf, err := lab.NewShelf(ctx, "s", &lab.ShelfArgs{Boxes: pulumix.Val([]*box.Box{made})})
	check(err)
	value(shelf.URN())
	expect("a component", pretend.made["s"].RegisterRPC.GetRemote(), true)
	boxes := pretend.made["s"].Inputs["boxes"].ArrayValue()
	expect("a resource within", boxes[0].IsResourceReference(), true)
	provider, err := lab.NewProvider(ctx, "p", &lab.ProviderArgs{
		Region: pulumix.Ptr("r"), Retries: pulumix.Ptr(4), Token: pulumix.Map[string]{"a": pulumix.Val("b")},
	})
	check(err)
	value(provider.URN())
	inputs := pretend.made["p"].Inputs
	expect("a setting", inputs["region"].StringValue(), "r")
	expect("a secret setting", inputs["token"].IsSecret(), true)
}

func pictures(ctx *pulumi.Context, pretend *mocks) {
	text := pulumix.Val[pulumi.AssetOrArchive](pulumi.NewStringAsset("text"))
	made, err := shapes.NewPicture(ctx, "pic", &shapes.PictureArgs{
		Source:     text,
		Background: pulumix.Ptr("red"),
		Grid:       pulumix.Val([][]*shapes.DotArgs{{{X: pulumix.Val(1.0)}}}),
		ByColour:   pulumix.Val(map[string][]shapes.Colour{"x": {shapes.Colour_Colour_Light_blue}}),
		Main:       pulumix.Val(&shapes.DotArgs{X: pulumix.Val(2.0)}),
		Extra:      pulumix.Val[any](map[string]bool{"k": true}),
	})
	check(err)
	value(made.URN())
	inputs := pretend.made["pic"].Inputs
	expect("an asset", inputs["source"].AssetValue().Text, "text")
	expect("a relaxed enum", inputs["background"].StringValue(), "red")
	expect("lists of lists", inputs["grid"].Mappable(), []interface{}{[]interface{}{map[string]interface{}{"x": 1.0}}})
	expect("maps of lists of enums", inputs["byColour"].Mappable(), map[string]interface{}{"x": []interface{}{"light blue"}})
	expect("an output as an input", inputs["main"].Mappable(), map[string]interface{}{"x": 2.0})
	expect("anything", value(made.Extra), map[string]interface{}{"k": true})
	expect("an element", value(made.Grid.Index(pulumix.Val(0)).Index(pulumix.Val(0)).X()), 1.0)
	expect("enums in a list", value(made.Colours.Index(pulumix.Val(0))), shapes.Colour("light blue"))
	expect("a reserved name", value(made.ElementType_), "pixel")
	album, err := shapes.NewAlbum(ctx, "album", &shapes.AlbumArgs{Pictures: pulumix.Val([]*shapes.Picture{made})})
	check(err)
	expect("a resource by reference", value(album.Cover.Elem().GetElementType_()), "pixel")
}
