//! Functions: a blocking variant and an output variant (`codegen.md` 4.5).

use plumb_schema::bound::{Function, Object, Property, Returns, Type, TypeKind, TypeShape};

use super::forms::Declarations;
use super::imports::PULUMI;
use super::model::{Body, Doc, SourceFile, Struct};
use super::names;
use super::properties::{Entry, Fields, Holder};
use super::sdk::Sdk;
use super::values::{Content, append};
use crate::GenerateError;

/// Result of a function.
#[derive(Clone, Copy)]
enum Result<'p, 'd> {
    Nothing,
    /// A result struct of its own.
    Own(&'p Object<'d>),
    /// An object type of the package.
    Named(&'p Type<'d>),
    /// The only value of the map that the provider returns.
    Single(&'p Type<'d>),
}

/// Intermediate state while the file of a function is built.
struct Lowering<'s, 'p, 'd> {
    sdk: &'s Sdk<'p, 'd>,
    function: &'p Function<'d>,
    name: &'s str,
    entries: Vec<Entry<'p, 'd>>,
    result: Result<'p, 'd>,
    file: Declarations<'s>,
}

impl<'p, 'd> Sdk<'p, 'd> {
    pub(super) fn function_file(
        &self,
        position: usize,
    ) -> std::result::Result<SourceFile, GenerateError> {
        let function = &self.package.functions[position];
        let name = &self.naming.functions[position];
        let module = self.module_of(function.token);
        let inputs = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let entries = self.entries(
            &format!("{name}Args"),
            in_order(function, inputs),
            |property| property.required,
        );
        let mut lowering = Lowering {
            file: Declarations::new(self.imports(&module), &self.settings),
            sdk: self,
            function,
            name,
            entries,
            result: self.result_of(function),
        };
        lowering.file.imports.pulumi();
        lowering.items();
        let path = self.path(&module, &Self::file_name(name, &module))?;
        Ok(lowering.file.file(path, self.layout.package_of(&module)))
    }

    /// Signatures of the plain variant and of the output variant.
    pub(super) fn function_signatures(&self, position: usize) -> [Option<String>; 2] {
        let function = &self.package.functions[position];
        let name = &self.naming.functions[position];
        let inputs = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let mut lowering = Lowering {
            file: Declarations::new(self.imports_at(String::new()), &self.settings),
            sdk: self,
            function,
            name,
            entries: self.entries(
                &format!("{name}Args"),
                in_order(function, inputs),
                |property| property.required,
            ),
            result: self.result_of(function),
        };
        if function.plain {
            lowering.plain_function();
        }
        if !matches!(lowering.result, Result::Nothing) {
            lowering.output_function();
        }
        let signature = |name: &str| lowering.file.signature(&format!("func {name}("));
        [signature(name), signature(&format!("{name}Output"))]
    }

    fn result_of(&self, function: &'p Function<'d>) -> Result<'p, 'd> {
        match &function.returns {
            Returns::Nothing => Result::Nothing,
            Returns::Object(object) => Result::Own(object),
            Returns::Value(ty) => match ty.kind {
                TypeKind::Defined(position)
                    if matches!(self.package.types[position].shape, TypeShape::Object(_)) =>
                {
                    Result::Named(ty)
                }
                _ => Result::Single(ty),
            },
        }
    }
}

/// Properties in positional order; in schema order if the function has no positional arguments.
fn in_order<'p, 'd>(
    function: &'p Function<'d>,
    inputs: impl Iterator<Item = &'p Property<'d>>,
) -> Vec<&'p Property<'d>> {
    let mut inputs: Vec<_> = inputs.collect();
    let place = |property: &&Property<'d>| {
        function
            .positional
            .iter()
            .position(|name| *name == property.name)
    };
    if !function.positional.is_empty() {
        inputs.sort_by_key(place);
    }
    inputs
}

impl Lowering<'_, '_, '_> {
    fn items(&mut self) {
        if self.function.plain {
            self.plain_function();
        }
        self.plain_args();
        self.own_result();
        if !matches!(self.result, Result::Nothing) {
            self.output_function();
            self.output_args();
            self.own_result_output();
        }
    }

    fn is_positional(&self) -> bool {
        !self.function.positional.is_empty()
    }

    fn has_args(&self) -> bool {
        self.function.inputs.is_some()
    }

    fn args_name(&self) -> String {
        let name = if self.is_positional() {
            names::hidden(self.name)
        } else {
            self.name.to_owned()
        };
        format!("{name}Args")
    }

    fn output_args_name(&self) -> String {
        let name = if self.is_positional() {
            names::hidden(self.name)
        } else {
            self.name.to_owned()
        };
        format!("{name}OutputArgs")
    }

    fn has_defaults(&self) -> bool {
        let has_default = |entry: &Entry<'_, '_>| {
            let property = entry.property;
            let inner = match property.ty.kind {
                TypeKind::Defined(position) => self.sdk.has_defaults[position],
                _ => false,
            };
            inner || property.default.is_some() || property.default_info.is_some()
        };
        !self.sdk.settings.disable_object_defaults && self.entries.iter().any(has_default)
    }

    fn parameters(&mut self, kind: Fields, args: &str) -> String {
        if !self.has_args() {
            return String::new();
        }
        if !self.is_positional() {
            return format!(", args {args}");
        }
        let fields = self.sdk.fields(&self.entries, kind, false, &mut self.file);
        let parameters = fields.iter().zip(&self.entries);
        parameters.fold(String::new(), |list, (field, entry)| {
            format!("{list}, {} {}", parameter_name(entry), field.ty)
        })
    }

    /// Statements that collect positional parameters into a struct.
    fn collected(&self, name: &str, body: &mut Body) {
        if !self.is_positional() {
            return;
        }
        body.block(format!("args := {name}{{"), "}", |body| {
            let longest = self
                .entries
                .iter()
                .map(|entry| entry.name.chars().count())
                .max()
                .unwrap_or(0);
            for entry in &self.entries {
                let blanks = " ".repeat(longest - entry.name.chars().count());
                body.line(format!(
                    "{}: {blanks}{},",
                    entry.name,
                    parameter_name(entry)
                ));
            }
        });
    }

    fn plain_function(&mut self) {
        let args = self.args_name();
        let parameters = self.parameters(Fields::Value, &format!("*{args}"));
        let mut body = Body::default();
        self.collected(&args, &mut body);
        let internal = self.file.imports.internal();
        body.line(format!("opts = {internal}.PkgInvokeDefaultOpts(opts)"));
        let returned = match self.result {
            Result::Nothing => {
                let call = self.invocation("err", "struct{}", &mut body);
                body.line(format!("return {call}"));
                "error".to_owned()
            }
            Result::Own(_) => {
                let name = format!("{}Result", self.name);
                self.object_result(name, &mut body)
            }
            Result::Named(ty) => {
                let name = self.sdk.value(ty, &mut self.file.imports);
                self.object_result(name, &mut body)
            }
            Result::Single(ty) => self.single_result(ty, &mut body),
        };
        let signature = format!(
            "func {}(ctx *pulumi.Context{parameters}, opts ...pulumi.InvokeOption) {returned}",
            self.name
        );
        self.file.function(self.doc(), signature, body);
    }

    /// Statements that return a pointer to an object; returns the result types.
    fn object_result(&mut self, name: String, body: &mut Body) -> String {
        let call = self.invocation("nil, err", &name, body);
        self.called(&call, body);
        body.return_error("nil, err");
        body.line("return &rv, nil");
        format!("(*{name}, error)")
    }

    /// Statements that return the only value of a map; returns the result types.
    fn single_result(&mut self, ty: &Type<'_>, body: &mut Body) -> String {
        let value = self.sdk.value(ty, &mut self.file.imports);
        body.line(format!("var result {value}"));
        let call = self.invocation("result, err", &format!("map[string]{value}"), body);
        self.called(&call, body);
        body.return_error("result, err");
        body.block("for _, v := range rv {", "}", |body| {
            body.line("result = v");
            body.line("break");
        });
        body.line("return result, nil");
        format!("({value}, error)")
    }

    /// Invoke expression; adds the declarations that it needs to `body`.
    fn invocation(&mut self, failed: &str, held: &str, body: &mut Body) -> String {
        let args = match (self.has_args(), self.has_defaults()) {
            (false, _) => "nil",
            (true, true) => "args.Defaults()",
            (true, false) => "args",
        };
        let token = names::string(self.function.token);
        let mut call = format!("ctx.Invoke({token}, {args}, &rv, opts...)");
        if self.sdk.is_parameterized() {
            let internal = self.file.imports.internal();
            body.line(format!("ref, err := {internal}.PkgGetPackageRef(ctx)"));
            body.return_error(failed);
            call = format!("ctx.InvokePackage({token}, {args}, &rv, ref, opts...)");
        }
        body.line(format!("var rv {held}"));
        call
    }

    fn called(&self, call: &str, body: &mut Body) {
        let assign = if self.sdk.is_parameterized() {
            "="
        } else {
            ":="
        };
        body.line(format!("err {assign} {call}"));
    }

    fn doc(&self) -> Doc {
        self.sdk
            .doc(self.function.description, self.function.deprecation)
    }

    fn plain_args(&mut self) {
        let Some(inputs) = &self.function.inputs else {
            return;
        };
        let name = self.args_name();
        let fields = self
            .sdk
            .fields(&self.entries, Fields::Value, true, &mut self.file);
        let doc = self.sdk.doc(inputs.description, None);
        self.file.structure(Struct {
            doc,
            name: name.clone(),
            base: None,
            fields,
        });
        if self.has_defaults() {
            self.sdk
                .defaults_method(&name, &self.entries, Content::Values, &mut self.file);
        }
    }

    fn own_result(&mut self) {
        let Result::Own(object) = self.result else {
            return;
        };
        let name = format!("{}Result", self.name);
        let entries = self.result_entries(object, &name);
        let fields = self
            .sdk
            .fields(&entries, Fields::Value, true, &mut self.file);
        let doc = self.sdk.doc(object.description, None);
        self.file.structure(Struct {
            doc,
            name: name.clone(),
            base: None,
            fields,
        });
        let has_default = |entry: &Entry<'_, '_>| match entry.property.ty.kind {
            TypeKind::Defined(position) => self.sdk.has_defaults[position],
            _ => entry.property.default.is_some() || entry.property.default_info.is_some(),
        };
        if !self.sdk.settings.disable_object_defaults && entries.iter().any(has_default) {
            self.sdk
                .defaults_method(&name, &entries, Content::Values, &mut self.file);
        }
    }

    fn own_result_output(&mut self) {
        let Result::Own(object) = self.result else {
            return;
        };
        let name = format!("{}Result", self.name);
        let entries = self.result_entries(object, &name);
        if self.sdk.is_generic() {
            let doc = self.sdk.doc(object.description, None);
            self.file.generic_output(doc, &name, &format!("*{name}"));
            return self
                .sdk
                .generic_accessors(&name, Holder::Pointer, &entries, &mut self.file);
        }
        self.file
            .output(self.sdk.doc(object.description, None), &name, &name);
        self.sdk
            .accessors(&name, Holder::Value, &entries, &mut self.file);
    }

    fn output_function(&mut self) {
        let args = self.output_args_name();
        let parameters = self.parameters(Fields::Input, &args);
        let mut body = Body::default();
        self.collected(&args, &mut body);
        if self.sdk.is_generic() {
            let resolution = self.sdk.resolution("args", &self.entries, &mut self.file);
            append(&mut body, resolution);
        }
        let arguments = self.output_arguments(&mut body);
        let internal = self.file.imports.internal();
        let defaults = format!("{internal}.PkgInvokeDefaultOpts(opts)");
        if self.sdk.is_parameterized() {
            body.block("options := pulumi.InvokeOutputOptions{", "}", |body| {
                body.line(format!("InvokeOptions: {defaults},"));
                body.line(format!("PackageRefF:   {internal}.PkgGetPackageRef,"));
            });
        } else {
            body.line(format!(
                "options := pulumi.InvokeOutputOptions{{InvokeOptions: {defaults}}}"
            ));
        }
        let token = names::string(self.function.token);
        let invoke = |output: &str| {
            format!("ctx.InvokeOutput({token}, {arguments}, {output}{{}}, options).({output})")
        };
        let imports = &mut self.file.imports;
        let output = match self.result {
            Result::Nothing => return,
            Result::Own(_) => format!("{}ResultOutput", self.name),
            Result::Named(ty) | Result::Single(ty) => self.sdk.output(ty, imports),
        };
        if let Result::Single(ty) = self.result {
            let value = self.sdk.value(ty, imports);
            let is_generic = self.sdk.is_generic();
            let (map, open, close) = if is_generic {
                imports.plain(&format!("{PULUMI}x"));
                let map = format!("pulumix.MapOutput[{value}]");
                let open = format!("value := pulumix.Apply[map[string]{value}](rv, ");
                (map, open, ")".to_owned())
            } else {
                let map = self.sdk.stem(ty, imports) + "MapOutput";
                (map, "return rv.ApplyT(".to_owned(), format!(").({output})"))
            };
            body.line(format!("rv := {}", invoke(&map)));
            let open = format!("{open}func(rv map[string]{value}) {value} {{");
            body.block(open, &format!("}}{close}"), |body| {
                body.line(format!("var result {value}"));
                body.block("for _, v := range rv {", "}", |body| {
                    body.line("result = v");
                });
                body.line("return result");
            });
            if is_generic {
                body.line(format!("return {output}{{OutputState: value.OutputState}}"));
            }
        } else {
            body.line(format!("return {}", invoke(&output)));
        }
        let signature = format!(
            "func {}Output(ctx *pulumi.Context{parameters}, opts ...pulumi.InvokeOption) {output}",
            self.name
        );
        self.file.function(self.doc(), signature, body);
    }

    /// Expression for the sent arguments, with defaults filled in.
    fn output_arguments(&self, body: &mut Body) -> &'static str {
        if !self.has_args() {
            return "nil";
        }
        if !self.has_defaults() {
            return "args";
        }
        let plain = self.args_name();
        body.line("outputArgs := pulumi.ToOutputWithContext(ctx.Context(), args).");
        body.indented(|body| {
            body.block(
                format!("ApplyT(func(v interface{{}}) *{plain} {{"),
                "})",
                |body| {
                    body.line(format!("args := v.({plain})"));
                    body.line("return args.Defaults()");
                },
            );
        });
        "outputArgs"
    }

    fn output_args(&mut self) {
        if !self.has_args() {
            return;
        }
        let name = self.output_args_name();
        let fields = self
            .sdk
            .fields(&self.entries, Fields::Input, true, &mut self.file);
        let doc = self
            .function
            .inputs
            .as_ref()
            .and_then(|inputs| inputs.description);
        let doc = self.sdk.doc(doc, None);
        self.file.structure(Struct {
            doc,
            name: name.clone(),
            base: None,
            fields,
        });
        self.file.element_type(&name, &self.args_name());
    }
}

impl<'p, 'd> Lowering<'_, 'p, 'd> {
    fn result_entries(&self, object: &'p Object<'d>, name: &str) -> Vec<Entry<'p, 'd>> {
        self.sdk
            .entries(name, &object.properties, |property| property.required)
    }
}

fn parameter_name(entry: &Entry<'_, '_>) -> String {
    let name = names::word(&names::camel(entry.property.name));
    match name.as_str() {
        "ctx" | "args" | "opts" | "rv" | "err" | "ref" | "result" | "options" | "outputArgs"
        | "pulumi" | "internal" | "utilities" | "reflect" | "context" => {
            format!("{name}Arg")
        }
        _ => name,
    }
}
