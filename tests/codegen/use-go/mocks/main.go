// Uses generated SDKs with a pretend provider, and looks at what is sent and what comes back.
package main

import (
	"errors"
	"fmt"

	"example.com/pulumi-lab/sdk/go/lab"
	"example.com/pulumi-lab/sdk/go/lab/box"
	"example.com/pulumi-lab/sdk/go/lab/config"
	"example.com/pulumi-shapes/sdk/v2/go/shapes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	tell(map[string]func(ctx *pulumi.Context, pretend *mocks){
		"boxes":                              boxes,
		"functions":                          functions,
		"components, the provider, settings": others,
		"pictures":                           pictures,
	})
}

func boxes(ctx *pulumi.Context, pretend *mocks) {
	made, err := box.NewBox(ctx, "b", &box.BoxArgs{
		Size:      pulumi.Int(1),
		Lock:      box.LockArgs{Kind: box.KindKey},
		PlainLock: &box.LockArgs{Kind: box.KindDigits.ToKindOutput(), Code: pulumi.String("1")},
		Password:  pulumi.String("pw"),
	})
	check(err)
	expect("the URN", value(made.URN()), pulumi.URN("urn:pulumi:stack::project::lab:box:Box::b"))
	request := pretend.made["b"].RegisterRPC
	inputs := pretend.made["b"].Inputs
	expect("a constant", inputs["apiVersion"].StringValue(), "v1")
	expect("a default of the environment", inputs["fast"].BoolValue(), false)
	expect("defaults within", inputs["lock"].Mappable(), map[string]interface{}{"kind": "key", "code": "0000"})
	expect("what is plain", inputs["plainLock"].Mappable(), map[string]interface{}{"kind": "1234", "code": "1"})
	expect("a secret", inputs["password"].IsSecret() && inputs["password"].SecretValue().Element.StringValue() == "pw", true)
	expect("secret outputs", request.GetAdditionalSecretOutputs(), []string{"secretCode"})
	expect("replacements", request.GetReplaceOnChanges(), []string{"lock"})
	expect("a former type", request.GetAliases()[0].GetSpec().GetType(), "lab:index:OldBox")
	expect("the version", request.GetVersion(), "1.2.3")
	expect("a nested output", *value(made.Lock.Code()).(*string), "0000")
	expect("a nested enum", *value(made.Lock.Kind()).(*box.Kind), box.KindKey)
	expect("its text", *value(made.Lock.Kind().ToStringPtrOutput()).(*string), "key")
	expect("an output of an output", value(made.ToBoxOutput().Size()), 1)

	_, err = box.NewBox(ctx, "c", &box.BoxArgs{})
	expect("what is missing", fmt.Sprint(err), "invalid value for required argument 'Size'")
	_, err = box.NewBox(ctx, "c", nil)
	expect("that all is missing", err, errors.New("missing one or more required arguments"))

	found, err := box.GetBox(ctx, "old", pulumi.ID("some-id"), &box.BoxState{Size: pulumi.Int(9)})
	check(err)
	expect("the id", value(found.ID()), pulumi.ID("some-id"))
	expect("the state", pretend.made["old"].Inputs.Mappable(), map[string]interface{}{"size": 9.0})

	opened, err := made.Open(ctx, &box.BoxOpenArgs{Code: pulumi.String("12")})
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
	later := lab.FindOutput(ctx, lab.FindOutputArgs{Name: pulumi.String("y").ToStringOutput(), Limit: pulumi.Int(2)})
	expect("its output", value(later.Ids()), []string{"y", "2"})
	filled := lab.FindOutput(ctx, lab.FindOutputArgs{Name: pulumi.String("z")})
	expect("its default", value(filled.Ids().Index(pulumi.Int(1))), "7")
	three := 3
	sum, err := lab.Add(ctx, 2, &three)
	check(err)
	expect("arguments by position", sum, 5)
	expect("outputs by position", value(lab.AddOutput(ctx, pulumi.Int(2), nil)), 2)
	dots := shapes.LookupPictureOutput(ctx, shapes.LookupPictureOutputArgs{
		Main: shapes.DotArgs{X: pulumi.Float64(1.5), Level: shapes.LevelHigh},
	})
	level := shapes.LevelHigh
	expect("objects of a function", value(dots.Dots()), []shapes.Dot{{X: 1.5, Level: &level}})
}

func others(ctx *pulumi.Context, pretend *mocks) {
	made, err := box.NewBox(ctx, "inside", &box.BoxArgs{Size: pulumi.Int(2)})
	check(err)
	shelf, err := lab.NewShelf(ctx, "s", &lab.ShelfArgs{Boxes: box.BoxArray{made}})
	check(err)
	value(shelf.URN())
	expect("a component", pretend.made["s"].RegisterRPC.GetRemote(), true)
	provider, err := lab.NewProvider(ctx, "p", &lab.ProviderArgs{
		Region: pulumi.String("r"), Retries: pulumi.Int(4), Token: pulumi.StringMap{"a": pulumi.String("b")},
	})
	check(err)
	value(provider.URN())
	inputs := pretend.made["p"].Inputs
	expect("a setting", inputs["region"].StringValue(), "r")
	expect("a secret setting", inputs["token"].IsSecret(), true)
	expect("the environment", config.GetRegion(ctx), "north")
	expect("a default", config.GetRetries(ctx), 3)
	expect("a map", config.GetTags(ctx), `{"a":"b"}`)
}

func pictures(ctx *pulumi.Context, pretend *mocks) {
	made, err := shapes.NewPicture(ctx, "pic", &shapes.PictureArgs{
		Source:     pulumi.NewStringAsset("text"),
		Files:      pulumi.ArchiveMap{"a": pulumi.NewAssetArchive(map[string]interface{}{"b": pulumi.NewStringAsset("c")})},
		Background: pulumi.String(shapes.ColourRed),
		Name:       pulumi.Int(4),
		Grid:       shapes.DotArrayArray{shapes.DotArray{shapes.DotArgs{X: pulumi.Float64(1), Colour: shapes.ColourRed}}},
		ByColour:   shapes.ColourArrayMap{"x": shapes.ColourArray{shapes.Colour_Light_blue}},
		Main:       shapes.DotArgs{X: pulumi.Float64(2)}.ToDotOutput().ToDotPtrOutput(),
		Extra:      pulumi.Map{"k": pulumi.Bool(true)},
	})
	check(err)
	value(made.URN())
	inputs := pretend.made["pic"].Inputs
	expect("an asset", inputs["source"].AssetValue().Text, "text")
	expect("an archive", inputs["files"].ObjectValue()["a"].IsArchive(), true)
	expect("a relaxed enum", inputs["background"].StringValue(), "red")
	expect("a union", inputs["name"].NumberValue(), 4.0)
	expect("lists of lists", inputs["grid"].Mappable(), []interface{}{[]interface{}{map[string]interface{}{"x": 1.0, "colour": "red"}}})
	expect("maps of lists of enums", inputs["byColour"].Mappable(), map[string]interface{}{"x": []interface{}{"light blue"}})
	expect("an output as an input", inputs["main"].Mappable(), map[string]interface{}{"x": 2.0})
	expect("anything", value(made.Extra), map[string]interface{}{"k": true})
	expect("an element", value(made.Grid.Index(pulumi.Int(0)).Index(pulumi.Int(0)).X()), 1.0)
	expect("enums in a list", value(made.Colours.Index(pulumi.Int(0))), shapes.Colour("light blue"))
	expect("a reserved name", value(made.ElementType_), "pixel")
	expect("what an output calls it", value(made.ToPictureOutput().GetElementType_()), "pixel")
	album, err := shapes.NewAlbum(ctx, "album", &shapes.AlbumArgs{Pictures: shapes.PictureArray{made}})
	check(err)
	expect("a resource by reference", value(album.Cover.GetElementType_()), "pixel")
}
