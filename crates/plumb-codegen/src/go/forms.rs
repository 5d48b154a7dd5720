//! Declarations shared by all types: the methods and registrations that make them inputs and outputs of the core SDK.

use super::imports::{Imports, PULUMI};
use super::model::{Body, Doc, Function, Interface, Item, SourceFile, Struct};
use crate::FilePath;

/// A file under construction.
pub(super) struct Declarations<'s> {
    pub(super) imports: Imports<'s>,
    pub(super) items: Vec<Item>,
    /// Statements in `init` that register input types with the core SDK.
    pub(super) registrations: Vec<String>,
    outputs: Vec<String>,
    /// Whether input types are registered.
    has_inputs: bool,
    /// Whether output types also implement the generic output interface.
    has_generics: bool,
}

/// Collection kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Collection {
    Array,
    Map,
}

impl Collection {
    /// Kind of the collection with a name like `...Array` or `...Map`.
    pub(super) fn of(name: &str) -> Self {
        if name.ends_with("Map") {
            Collection::Map
        } else {
            Collection::Array
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Collection::Array => "Array",
            Collection::Map => "Map",
        }
    }

    /// Prefix of the Go type, before the type of its elements.
    pub(super) fn before(self) -> &'static str {
        match self {
            Collection::Array => "[]",
            Collection::Map => "map[string]",
        }
    }
}

impl<'s> Declarations<'s> {
    pub(super) fn new(imports: Imports<'s>, settings: &super::settings::Settings<'_>) -> Self {
        Declarations {
            imports,
            items: Vec::new(),
            registrations: Vec::new(),
            outputs: Vec::new(),
            has_inputs: !settings.disable_input_registrations,
            has_generics: settings.generics == super::settings::Generics::Beside,
        }
    }

    /// The finished file, with an `init` function that registers its types.
    pub(super) fn file(mut self, path: FilePath, package: String) -> SourceFile {
        let mut body = Body::default();
        for line in self.registrations.drain(..).chain(self.outputs.drain(..)) {
            body.line(line);
        }
        if !body.lines.is_empty() {
            self.imports.pulumi();
            self.items.push(Item::Function(Function {
                doc: Doc::default(),
                signature: vec!["func init()".to_owned()],
                body: body.lines,
            }));
        }
        SourceFile {
            path,
            doc: Doc::default(),
            package,
            imports: self.imports.lines(),
            items: self.items,
        }
    }

    /// First signature declared so far that begins with `start`.
    pub(super) fn signature(&self, start: &str) -> Option<String> {
        self.items.iter().find_map(|item| match item {
            Item::Function(function) => {
                let signature = function.signature.join(" ");
                signature.starts_with(start).then_some(signature)
            }
            _ => None,
        })
    }

    pub(super) fn structure(&mut self, item: Struct) {
        self.items.push(Item::Struct(item));
    }

    pub(super) fn line(&mut self, doc: Doc, line: String) {
        self.items.push(Item::Lines {
            doc,
            lines: vec![line],
        });
    }

    pub(super) fn function(&mut self, doc: Doc, signature: String, body: Body) {
        self.items.push(Item::Function(Function {
            doc,
            signature: vec![signature],
            body: body.lines,
        }));
    }

    /// A function with a single return statement.
    pub(super) fn returns(&mut self, signature: String, result: String) {
        let mut body = Body::default();
        body.line(format!("return {result}"));
        self.function(Doc::default(), signature, body);
    }

    /// Method that reports the type of the values of `receiver`.
    pub(super) fn element_type(&mut self, receiver: &str, ty: &str) {
        self.imports.standard("reflect");
        self.returns(
            format!("func ({receiver}) ElementType() reflect.Type"),
            format!("reflect.TypeOf((*{ty})(nil)).Elem()"),
        );
    }

    /// Interface for inputs of type `name`.
    pub(super) fn input_interface(&mut self, doc: Doc, name: &str, parameter: &str) {
        self.imports.pulumi();
        self.imports.standard("context");
        self.items.push(Item::Interface(Interface {
            doc,
            name: format!("{name}Input"),
            methods: vec![
                format!("To{name}Output() {name}Output"),
                format!("To{name}OutputWithContext({parameter}context.Context) {name}Output"),
            ],
        }));
    }

    /// Methods that convert `receiver` to an output of `name`. `value` is the type of the resolved value.
    pub(super) fn conversions(&mut self, receiver: &str, name: &str, value: &str) {
        self.imports.pulumi();
        self.imports.standard("context");
        self.returns(
            format!("func (i {receiver}) To{name}Output() {name}Output"),
            format!("i.To{name}OutputWithContext(context.Background())"),
        );
        self.returns(
            format!(
                "func (i {receiver}) To{name}OutputWithContext(ctx context.Context) {name}Output"
            ),
            format!("pulumi.ToOutputWithContext(ctx, i).({name}Output)"),
        );
        let state = format!("i.To{name}OutputWithContext(ctx).OutputState");
        self.generic("i", receiver, value, &state);
    }

    /// Method that makes `receiver` a generic output of the core SDK, if the package uses those.
    pub(super) fn generic(&mut self, this: &str, receiver: &str, value: &str, state: &str) {
        if !self.has_generics {
            return;
        }
        self.imports.plain(&format!("{PULUMI}x"));
        self.imports.standard("context");
        let mut body = Body::default();
        body.block(format!("return pulumix.Output[{value}]{{"), "}", |body| {
            body.line(format!("OutputState: {state},"));
        });
        let signature = format!(
            "func ({this} {receiver}) ToOutput(ctx context.Context) pulumix.Output[{value}]"
        );
        self.function(Doc::default(), signature, body);
    }

    /// Output type of `name`, which implements the input interface.
    pub(super) fn output(&mut self, doc: Doc, name: &str, value: &str) {
        let output = format!("{name}Output");
        self.own_output(doc, &output, value);
        self.generic("o", &output, value, "o.OutputState");
    }

    /// Output type that implements the input interface.
    pub(super) fn own_output(&mut self, doc: Doc, output: &str, value: &str) {
        self.imports.standard("context");
        self.output_type(doc, output, value);
        self.returns(
            format!("func (o {output}) To{output}() {output}"),
            "o".to_owned(),
        );
        self.returns(
            format!("func (o {output}) To{output}WithContext(ctx context.Context) {output}"),
            "o".to_owned(),
        );
    }

    /// Output type without the input interface.
    pub(super) fn output_type(&mut self, doc: Doc, output: &str, value: &str) {
        self.imports.pulumi();
        self.line(
            doc,
            format!("type {output} struct{{ *pulumi.OutputState }}"),
        );
        self.element_type(output, value);
        self.outputs
            .push(format!("pulumi.RegisterOutputType({output}{{}})"));
    }

    /// Registers the type to construct for an input interface.
    pub(super) fn register_input(&mut self, name: &str, value: &str) {
        if self.has_inputs {
            self.imports.standard("reflect");
            self.registrations.push(format!(
                "pulumi.RegisterInputType(reflect.TypeOf((*{name}Input)(nil)).Elem(), {value})"
            ));
        }
    }

    /// Methods that convert an output to an output of a pointer.
    pub(super) fn pointer_conversions(&mut self, name: &str) {
        self.imports.standard("context");
        self.returns(
            format!("func (o {name}Output) To{name}PtrOutput() {name}PtrOutput"),
            format!("o.To{name}PtrOutputWithContext(context.Background())"),
        );
        let mut body = Body::default();
        let open =
            format!("return o.ApplyTWithContext(ctx, func(_ context.Context, v {name}) *{name} {{");
        body.block(open, &format!("}}).({name}PtrOutput)"), |body| {
            body.line("return &v");
        });
        let signature = format!(
            "func (o {name}Output) To{name}PtrOutputWithContext(ctx context.Context) {name}PtrOutput"
        );
        self.function(Doc::default(), signature, body);
    }

    /// Output type of pointers to `name`.
    pub(super) fn pointer_output(&mut self, name: &str) {
        self.output(Doc::default(), &format!("{name}Ptr"), &format!("*{name}"));
        let mut body = Body::default();
        let open = format!("return o.ApplyT(func(v *{name}) {name} {{");
        body.block(open, &format!("}}).({name}Output)"), |body| {
            body.block("if v != nil {", "}", |body| body.line("return *v"));
            body.line(format!("var ret {name}"));
            body.line("return ret");
        });
        self.function(
            Doc::default(),
            format!("func (o {name}PtrOutput) Elem() {name}Output"),
            body,
        );
    }

    /// Collection type for inputs: `name` is the type, `element` the type of its elements, `value` the type of the
    /// resolved value.
    pub(super) fn collection_input(
        &mut self,
        kind: Collection,
        name: &str,
        element: &str,
        value: &str,
    ) {
        let example = match kind {
            Collection::Array => format!("\t{name}{{ ... }}"),
            Collection::Map => format!("\t{name}{{ \"key\": ... }}"),
        };
        let doc = Doc::of([
            format!("{name}Input is an input type that accepts {name} and {name}Output values."),
            "A value of it is made like this:".to_owned(),
            String::new(),
            example,
        ]);
        self.input_interface(doc, name, "");
        self.line(
            Doc::default(),
            format!("type {name} {}{element}", kind.before()),
        );
        self.element_type(name, value);
        self.conversions(name, name, value);
        self.register_input(name, &format!("{name}{{}}"));
    }

    /// Collection type for outputs. `element` is the name of the elements' output without `Output`, `inner` the type of
    /// their values.
    pub(super) fn collection_output(
        &mut self,
        kind: Collection,
        name: &str,
        element: &str,
        inner: &str,
    ) {
        let value = format!("{}{inner}", kind.before());
        self.output(Doc::default(), name, &value);
        let (method, parameter, input, key) = match kind {
            Collection::Array => ("Index", "i", "pulumi.IntInput", "int"),
            Collection::Map => ("MapIndex", "k", "pulumi.StringInput", "string"),
        };
        let mut body = Body::default();
        let open =
            format!("return pulumi.All(o, {parameter}).ApplyT(func(vs []interface{{}}) {inner} {{");
        body.block(open, &format!("}}).({element}Output)"), |body| {
            body.line(format!("return vs[0].({value})[vs[1].({key})]"));
        });
        let signature =
            format!("func (o {name}Output) {method}({parameter} {input}) {element}Output");
        self.function(Doc::default(), signature, body);
    }
}
