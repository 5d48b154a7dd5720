//! Declarations in packages with generic types: arguments, and the methods that make a type an output (`codegen.md`
//! 4.4).

use plumb_schema::bound::Property;

use super::forms::Declarations;
use super::imports::PULUMI;
use super::model::{Body, Doc, Struct};
use super::properties::{Entry, Fields, Holder, accessor_name};
use super::sdk::Sdk;
use super::values::{Content, append};

impl Declarations<'_> {
    /// Output type of `name`, for values of type `value`.
    pub(super) fn generic_output(&mut self, doc: Doc, name: &str, value: &str) {
        self.own_output(doc, &format!("{name}Output"), value);
        self.generic_result(name, value);
    }

    /// Method that makes the output of `name` a generic output.
    pub(super) fn generic_result(&mut self, name: &str, value: &str) {
        self.imports.plain(&format!("{PULUMI}x"));
        self.imports.standard("context");
        self.returns(
            format!("func (o {name}Output) ToOutput(ctx context.Context) pulumix.Output[{value}]"),
            format!("pulumix.Output[{value}]{{OutputState: o.OutputState}}"),
        );
    }
}

impl Sdk<'_, '_> {
    /// Arguments type and output type of a nested object.
    pub(super) fn generic_object(
        &self,
        position: usize,
        doc: &Doc,
        entries: &[Entry<'_, '_>],
        file: &mut Declarations<'_>,
    ) {
        let name = &self.naming.types[position];
        let args = format!("{name}Args");
        let fields = self.fields(entries, Fields::Input, true, file);
        file.structure(Struct {
            doc: doc.clone(),
            name: args.clone(),
            base: None,
            fields,
        });
        if self.has_defaults[position] {
            self.defaults_method(&args, entries, Content::Inputs, file);
        }
        file.element_type(&args, name);
        file.imports.standard("context");
        file.returns(
            format!("func (i {args}) To{name}Output() {name}Output"),
            format!("i.To{name}OutputWithContext(context.Background())"),
        );
        let mut body = Body::default();
        append(&mut body, self.resolution("i", entries, file));
        body.line(format!(
            "return pulumi.ToOutputWithContext(ctx, i).({name}Output)"
        ));
        let signature =
            format!("func (i {args}) To{name}OutputWithContext(ctx context.Context) {name}Output");
        file.function(Doc::default(), signature, body);
        file.imports.plain(&format!("{PULUMI}x"));
        file.returns(
            format!("func (i *{args}) ToOutput(ctx context.Context) pulumix.Output[*{args}]"),
            "pulumix.Val(i)".to_owned(),
        );
        file.generic_output(doc.clone(), name, name);
        self.generic_accessors(name, Holder::Value, entries, file);
    }

    /// Statements that convert arguments in fields to values, which the core SDK does not do for nested objects.
    pub(super) fn resolution(
        &self,
        object: &str,
        entries: &[Entry<'_, '_>],
        file: &mut Declarations<'_>,
    ) -> Body {
        let mut body = Body::default();
        for entry in entries.iter().filter(|entry| !entry.property.ty.plain) {
            if let Some(conversion) = self.conversion(entry.place(), &mut file.imports) {
                let field = format!("{object}.{}", entry.name);
                let internal = file.imports.internal();
                body.line(format!(
                    "{field} = {internal}.Resolve({field}, {conversion})"
                ));
            }
        }
        body
    }

    /// Expression that wraps a value of the primitive type as an input.
    pub(super) fn generic_value(
        &self,
        property: &Property<'_>,
        required: bool,
        value: &str,
        file: &mut Declarations<'_>,
    ) -> String {
        file.imports.plain(&format!("{PULUMI}x"));
        let value = match self.enum_of(&property.ty, file) {
            Some(name) => format!("{name}({value})"),
            None => value.to_owned(),
        };
        let ty = self.value(&property.ty, &mut file.imports);
        let make = if required || self.is_nilable(&property.ty) {
            "Val"
        } else {
            "Ptr"
        };
        format!("pulumix.{make}[{ty}]({value})")
    }

    /// Methods of the outputs of `name`, one per property.
    pub(super) fn generic_accessors(
        &self,
        name: &str,
        holder: Holder,
        entries: &[Entry<'_, '_>],
        file: &mut Declarations<'_>,
    ) {
        for entry in entries {
            let output = self.generic_output_at(entry.place(), &mut file.imports);
            let field = &entry.name;
            let mut body = Body::default();
            if holder == Holder::Resource {
                file.imports.standard("context");
                let value = self.awaited(entry.place(), &mut file.imports);
                // Resources contain locks and must not be copied, so the function takes a pointer.
                body.closure(
                    "value := pulumix.Apply(o.ToOutput(context.Background()).AsAny(), ",
                    &format!("func(v any) {output}"),
                    &format!("return v.({name}).{field}"),
                    ")",
                );
                body.line(format!("flat := pulumix.Flatten[{value}, {output}](value)"));
                body.line(format!("return {output}{{OutputState: flat.OutputState}}"));
            } else {
                let star = if holder == Holder::Pointer { "*" } else { "" };
                let place = entry.place();
                let value = self.awaited(place, &mut file.imports);
                let held = self.value_at(place, &mut file.imports);
                let address = if value == held { "" } else { "&" };
                body.closure(
                    &format!("value := pulumix.Apply[{star}{name}](o, "),
                    &format!("func(v {star}{name}) {value}"),
                    &format!("return {address}v.{field}"),
                    ")",
                );
                body.line(format!("return {output}{{OutputState: value.OutputState}}"));
            }
            let method = accessor_name(field, holder);
            let signature = format!("func (o {name}Output) {method}() {output}");
            file.function(entry.doc.clone(), signature, body);
        }
    }
}
