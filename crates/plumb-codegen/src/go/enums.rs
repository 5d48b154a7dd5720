//! Enums: `pulumiEnums.go` of each module (`codegen.md` 4.4).

use plumb_schema::Primitive;
use plumb_schema::bound::{EnumType, TypeShape};

use super::forms::Declarations;
use super::model::{Body, Constant, Doc, Item, SourceFile};
use super::names;
use super::nested::{collection_input, collection_output};
use super::sdk::{Module, Sdk};
use super::types::{primitive_name, primitive_type};
use super::values::literal;
use crate::GenerateError;

impl Sdk<'_, '_> {
    pub(super) fn enums_file(
        &self,
        module: &str,
        members: &Module,
    ) -> Result<Option<SourceFile>, GenerateError> {
        if members.enums.is_empty() {
            return Ok(None);
        }
        let mut file = Declarations::new(self.imports(module), &self.settings);
        for &position in &members.enums {
            if let TypeShape::Enum(definition) = &self.package.types[position].shape {
                self.enumeration(position, definition, &mut file)?;
            }
        }
        let path = self.path(module, "pulumiEnums.go")?;
        Ok(Some(file.file(path, self.layout.package_of(module))))
    }

    fn enumeration(
        &self,
        position: usize,
        definition: &EnumType<'_>,
        file: &mut Declarations<'_>,
    ) -> Result<(), GenerateError> {
        let name = &self.naming.types[position];
        let underlying = primitive_type(definition.underlying);
        file.line(
            self.doc(definition.description, None),
            format!("type {name} {underlying}"),
        );
        let constants = self.constants(name, definition)?;
        let first = first_value(name, definition);
        let example: Vec<String> = constants
            .iter()
            .map(|constant| format!("\t{}", constant.name))
            .collect();
        if !constants.is_empty() {
            file.items.push(Item::Constants(constants));
        }
        if self.is_generic() {
            return Ok(());
        }
        let usage = &self.usages.types[position];
        if usage.value.input {
            file.element_type(name, name);
            conversions_of_values(name, definition.underlying, file);
        }
        if usage.value.output {
            file.output(Doc::default(), name, name);
            file.pointer_conversions(name);
            conversions_of_outputs(name, definition.underlying, file);
            file.pointer_output(name);
            conversions_of_pointers(name, definition.underlying, file);
        }
        if usage.value.input {
            inputs(name, definition.underlying, example, file);
            for kind in ["", "Ptr"] {
                file.register_input(&format!("{name}{kind}"), &first);
            }
        }
        let module = self.module_of(self.package.types[position].token);
        let collections = self.collections(&module, name, usage);
        for (ending, _) in collections.iter().filter(|(_, forms)| forms.input) {
            // Enum values themselves implement the input interface.
            collection_input(name, ending, name, file);
        }
        for (ending, _) in collections.iter().filter(|(_, forms)| forms.output) {
            collection_output(name, ending, file);
        }
        Ok(())
    }

    /// Name of the constant for a value of the enum `name`. upstream: packages with generic types repeat the type's name.
    pub(super) fn constant(&self, name: &str, member: String) -> String {
        let constant = format!("{name}{member}");
        if !self.is_generic() {
            return constant;
        }
        format!("{name}{}", names::enum_member(&constant).unwrap_or(member))
    }

    fn constants(
        &self,
        name: &str,
        definition: &EnumType<'_>,
    ) -> Result<Vec<Constant>, GenerateError> {
        let mut taken = rustc_hash::FxHashSet::default();
        let mut constants = Vec::with_capacity(definition.values.len());
        for value in &definition.values {
            let literal = literal(&value.value, false);
            let plain = match &value.value {
                plumb_schema::Constant::String(text) => text.clone(),
                plumb_schema::Constant::Number(number) => format!("{number}"),
                plumb_schema::Constant::Bool(value) => value.to_string(),
            };
            let wanted = value.name.unwrap_or(&plain);
            let member = names::enum_member(wanted).ok_or_else(|| GenerateError::Name {
                what: "the value of an enum,",
                name: wanted.escape_debug().to_string(),
                why: "nothing is left of its name in Go",
            })?;
            let mut constant = self.constant(name, member);
            while !taken.insert(constant.clone()) {
                constant.push('_');
            }
            constants.push(Constant {
                doc: self.doc(value.description, value.deprecation),
                name: constant,
                value: format!("{name}({literal})"),
            });
        }
        Ok(constants)
    }
}

/// Sample value, from which the core SDK derives the type.
fn first_value(name: &str, definition: &EnumType<'_>) -> String {
    let value = match definition.values.first() {
        Some(value) => literal(&value.value, false),
        None => match definition.underlying {
            Primitive::Bool => "false".to_owned(),
            Primitive::Integer | Primitive::Number => "0".to_owned(),
            Primitive::String => "\"\"".to_owned(),
        },
    };
    format!("{name}({value})")
}

/// Methods that convert an enum value to outputs of the enum and of its primitive type.
fn conversions_of_values(name: &str, primitive: Primitive, file: &mut Declarations<'_>) {
    let core = primitive_name(primitive);
    file.imports.standard("context");
    let mut returns = |method: &str, result: String| {
        file.returns(format!("func (e {name}) {method}"), result);
    };
    returns(
        &format!("To{name}Output() {name}Output"),
        format!("pulumi.ToOutput(e).({name}Output)"),
    );
    returns(
        &format!("To{name}OutputWithContext(ctx context.Context) {name}Output"),
        format!("pulumi.ToOutputWithContext(ctx, e).({name}Output)"),
    );
    returns(
        &format!("To{name}PtrOutput() {name}PtrOutput"),
        format!("e.To{name}PtrOutputWithContext(context.Background())"),
    );
    returns(
        &format!("To{name}PtrOutputWithContext(ctx context.Context) {name}PtrOutput"),
        format!("{name}(e).To{name}OutputWithContext(ctx).To{name}PtrOutputWithContext(ctx)"),
    );
    returns(
        &format!("To{core}Output() pulumi.{core}Output"),
        format!("pulumi.ToOutput(pulumi.{core}(e)).(pulumi.{core}Output)"),
    );
    returns(
        &format!("To{core}OutputWithContext(ctx context.Context) pulumi.{core}Output"),
        format!("pulumi.ToOutputWithContext(ctx, pulumi.{core}(e)).(pulumi.{core}Output)"),
    );
    returns(
        &format!("To{core}PtrOutput() pulumi.{core}PtrOutput"),
        format!("pulumi.{core}(e).To{core}PtrOutputWithContext(context.Background())"),
    );
    returns(
        &format!("To{core}PtrOutputWithContext(ctx context.Context) pulumi.{core}PtrOutput"),
        format!(
            "pulumi.{core}(e).To{core}OutputWithContext(ctx).To{core}PtrOutputWithContext(ctx)"
        ),
    );
}

/// Methods that convert outputs of the enum to outputs of its primitive type.
fn conversions_of_outputs(name: &str, primitive: Primitive, file: &mut Declarations<'_>) {
    let (core, ty) = (primitive_name(primitive), primitive_type(primitive));
    let output = format!("{name}Output");
    let mut converted = Body::default();
    let open = format!("return o.ApplyTWithContext(ctx, func(_ context.Context, e {name}) {ty} {{");
    converted.block(open, &format!("}}).(pulumi.{core}Output)"), |body| {
        body.line(format!("return {ty}(e)"));
    });
    in_background(
        &output,
        &format!("To{core}Output"),
        &format!("pulumi.{core}Output"),
        file,
    );
    file.function(
        Doc::default(),
        format!(
            "func (o {output}) To{core}OutputWithContext(ctx context.Context) pulumi.{core}Output"
        ),
        converted,
    );
    let mut pointed = Body::default();
    let open =
        format!("return o.ApplyTWithContext(ctx, func(_ context.Context, e {name}) *{ty} {{");
    pointed.block(open, &format!("}}).(pulumi.{core}PtrOutput)"), |body| {
        body.line(format!("v := {ty}(e)"));
        body.line("return &v");
    });
    in_background(
        &output,
        &format!("To{core}PtrOutput"),
        &format!("pulumi.{core}PtrOutput"),
        file,
    );
    file.function(
        Doc::default(),
        format!("func (o {output}) To{core}PtrOutputWithContext(ctx context.Context) pulumi.{core}PtrOutput"),
        pointed,
    );
}

fn conversions_of_pointers(name: &str, primitive: Primitive, file: &mut Declarations<'_>) {
    let (core, ty) = (primitive_name(primitive), primitive_type(primitive));
    let output = format!("{name}PtrOutput");
    in_background(
        &output,
        &format!("To{core}PtrOutput"),
        &format!("pulumi.{core}PtrOutput"),
        file,
    );
    let mut body = Body::default();
    let open =
        format!("return o.ApplyTWithContext(ctx, func(_ context.Context, e *{name}) *{ty} {{");
    body.block(open, &format!("}}).(pulumi.{core}PtrOutput)"), |body| {
        body.block("if e == nil {", "}", |body| body.line("return nil"));
        body.line(format!("v := {ty}(*e)"));
        body.line("return &v");
    });
    file.function(
        Doc::default(),
        format!("func (o {output}) To{core}PtrOutputWithContext(ctx context.Context) pulumi.{core}PtrOutput"),
        body,
    );
}

fn in_background(receiver: &str, method: &str, output: &str, file: &mut Declarations<'_>) {
    file.returns(
        format!("func (o {receiver}) {method}() {output}"),
        format!("o.{method}WithContext(context.Background())"),
    );
}

/// Input interfaces, and the function that returns a pointer.
fn inputs(name: &str, primitive: Primitive, example: Vec<String>, file: &mut Declarations<'_>) {
    let ty = primitive_type(primitive);
    let mut lines = vec![format!(
        "{name}Input is an input type that accepts values of the {name} enum."
    )];
    if !example.is_empty() {
        lines.push("A value of it is one of these:".to_owned());
        lines.push(String::new());
        lines.extend(example);
    }
    let doc = Doc {
        lines: lines.into(),
    };
    file.input_interface(doc, name, "");
    let hidden = format!("{}Ptr", names::hidden(name));
    file.line(
        Doc::default(),
        format!("var {hidden}Type = reflect.TypeOf((**{name})(nil)).Elem()"),
    );
    file.input_interface(Doc::default(), &format!("{name}Ptr"), "");
    file.line(Doc::default(), format!("type {hidden} {ty}"));
    file.returns(
        format!("func {name}Ptr(v {ty}) {name}PtrInput"),
        format!("(*{hidden})(&v)"),
    );
    file.returns(
        format!("func (*{hidden}) ElementType() reflect.Type"),
        format!("{hidden}Type"),
    );
    let pointer = format!("{name}PtrOutput");
    file.returns(
        format!("func (in *{hidden}) To{pointer}() {pointer}"),
        format!("pulumi.ToOutput(in).({pointer})"),
    );
    file.returns(
        format!("func (in *{hidden}) To{pointer}WithContext(ctx context.Context) {pointer}"),
        format!("pulumi.ToOutputWithContext(ctx, in).({pointer})"),
    );
    let state = format!("in.To{pointer}WithContext(ctx).OutputState");
    file.generic("in", &format!("*{hidden}"), &format!("*{name}"), &state);
}
