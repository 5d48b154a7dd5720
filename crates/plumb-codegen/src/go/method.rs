//! Methods of resources (`codegen.md` 4.3).

use plumb_schema::bound::{Function, Method, Object, Returns, Type, TypeKind, TypeShape};

use super::forms::Declarations;
use super::model::{Body, Doc, Field, Struct};
use super::names;
use super::properties::{Entry, Fields, Holder};
use super::sdk::Sdk;
use super::values::append;

/// Result of a method.
enum Result<'p, 'd> {
    Nothing,
    /// An output of a result struct.
    Object(&'p Object<'d>),
    /// An output of the only property of the result struct.
    Lifted(&'p Object<'d>),
    /// A result struct, without outputs.
    PlainObject(&'p Object<'d>),
    /// A plain value, which the provider returns as the property `res`.
    PlainValue(&'p Type<'d>),
}

impl<'p, 'd> Sdk<'p, 'd> {
    fn method_result(&self, function: &'p Function<'d>) -> Option<Result<'p, 'd>> {
        Some(match &function.returns {
            Returns::Nothing => Result::Nothing,
            Returns::Object(object) if function.returns_plain => Result::PlainObject(object),
            Returns::Object(object) => self.object_result(object),
            Returns::Value(ty) => match &ty.kind {
                TypeKind::Defined(position) if !function.returns_plain => {
                    match &self.package.types[*position].shape {
                        TypeShape::Object(object) => self.object_result(object),
                        TypeShape::Enum(_) => return None,
                    }
                }
                _ if function.returns_plain => Result::PlainValue(ty),
                // A non-object output cannot be distinguished from the map that the provider returns it in.
                _ => return None,
            },
        })
    }

    fn object_result(&self, object: &'p Object<'d>) -> Result<'p, 'd> {
        if self.settings.lift_single_value_returns && object.properties.len() == 1 {
            Result::Lifted(object)
        } else {
            Result::Object(object)
        }
    }

    /// Declares a method of the resource `resource` and its types.
    pub(super) fn method(&self, resource: &str, method: &Method<'d>, file: &mut Declarations<'_>) {
        let function = &self.package.functions[method.function];
        let Some(result) = self.method_result(function) else {
            return;
        };
        let title = names::title(method.name);
        let base = format!("{resource}{title}");
        let inputs = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let inputs = inputs.filter(|property| property.name != "__self__");
        let entries = self.entries(&format!("{base}Args"), inputs, |property| property.required);
        self.method_function(resource, &title, function, &result, &entries, file);
        if !entries.is_empty() {
            let doc = Doc::of([format!(
                "The set of arguments for the {title} method of the {resource} resource."
            )]);
            self.arguments(doc, &base, &entries, file);
        }
        self.method_result_types(&base, &result, file);
    }

    fn method_function(
        &self,
        resource: &str,
        title: &str,
        function: &Function<'_>,
        result: &Result<'_, '_>,
        entries: &[Entry<'_, '_>],
        file: &mut Declarations<'_>,
    ) {
        file.imports.pulumi();
        let base = format!("{resource}{title}");
        let output = result_output(&base, result);
        let (parameter, argument) = if entries.is_empty() {
            (String::new(), "nil")
        } else {
            (format!(", args *{base}Args"), "args")
        };
        let token = names::string(function.token);
        let call = format!("{token}, {argument}, {output}{{}}, r");
        let (returned, body) = match result {
            Result::Nothing => ("error".to_owned(), self.calling(&call, "err", "", file)),
            Result::Object(_) => {
                let body = self.calling(
                    &call,
                    &format!("{output}{{}}, err"),
                    &format!("out.({output}), nil"),
                    file,
                );
                (format!("({output}, error)"), body)
            }
            Result::Lifted(object) => {
                let accessor =
                    self.entries(&base, &object.properties, |property| property.required);
                let (ty, accessor) = match accessor.first() {
                    Some(entry) => (
                        self.output_at(entry.place(), &mut file.imports),
                        entry.name.clone(),
                    ),
                    None => ("pulumi.AnyOutput".to_owned(), String::new()),
                };
                let found = format!("out.({output}).{accessor}(), nil");
                let body = self.calling(&call, &format!("{ty}{{}}, err"), &found, file);
                (format!("({ty}, error)"), body)
            }
            Result::PlainObject(_) => (
                format!("(o {base}Result, e error)"),
                Self::calling_plain(&call, "", file),
            ),
            Result::PlainValue(ty) => {
                let ty = self.value(ty, &mut file.imports);
                (
                    format!("(o {ty}, e error)"),
                    Self::calling_plain(&call, "Res", file),
                )
            }
        };
        let body = self.with_resolution(&base, entries, body, file);
        let signature =
            format!("func (r *{resource}) {title}(ctx *pulumi.Context{parameter}) {returned}");
        file.function(
            self.doc(function.description, function.deprecation),
            signature,
            body,
        );
    }

    /// Body of a method, preceded by the statements that convert arguments to values, where the core SDK
    /// does not do so.
    fn with_resolution(
        &self,
        base: &str,
        entries: &[Entry<'_, '_>],
        body: Body,
        file: &mut Declarations<'_>,
    ) -> Body {
        if !self.is_generic() {
            return body;
        }
        let resolution = self.resolution("args", entries, file);
        if resolution.lines.is_empty() {
            return body;
        }
        let mut all = Body::default();
        all.block("if args == nil {", "}", |body| {
            body.line(format!("args = &{base}Args{{}}"));
        });
        append(&mut all, resolution);
        append(&mut all, body);
        all
    }

    /// Statements that call the method and return an output.
    fn calling(&self, call: &str, failed: &str, found: &str, file: &mut Declarations<'_>) -> Body {
        let mut body = Body::default();
        let mut call = format!("ctx.Call({call})");
        if self.is_parameterized() {
            let internal = file.imports.internal();
            body.line(format!("ref, err := {internal}.PkgGetPackageRef(ctx)"));
            body.return_error(failed);
            call = format!(
                "{}, ref)",
                call.replacen("Call", "CallPackage", 1)
                    .trim_end_matches(')')
            );
        }
        if found.is_empty() {
            let assign = if self.is_parameterized() { "=" } else { ":=" };
            body.line(format!("_, err {assign} {call}"));
            body.line("return err");
        } else {
            body.line(format!("out, err := {call}"));
            body.return_error(failed);
            body.line(format!("return {found}"));
        }
        body
    }

    /// Statements that call the method and wait for the value.
    fn calling_plain(call: &str, property: &str, file: &mut Declarations<'_>) -> Body {
        file.imports.standard("reflect");
        let internal = file.imports.internal();
        let mut body = Body::default();
        body.line(format!(
            "{internal}.CallPlain(ctx, {call}, \"{property}\", reflect.ValueOf(&o), &e)"
        ));
        body.line("return");
        body
    }

    fn method_result_types(
        &self,
        base: &str,
        result: &Result<'p, 'd>,
        file: &mut Declarations<'_>,
    ) {
        let name = match result {
            Result::Nothing => return,
            Result::Lifted(_) => names::hidden(&format!("{base}Result")),
            _ => format!("{base}Result"),
        };
        match result {
            Result::Nothing => {}
            Result::Object(object) | Result::Lifted(object) | Result::PlainObject(object) => {
                let entries = self.entries(&name, &object.properties, |property| property.required);
                let fields = self.fields(&entries, Fields::Value, true, file);
                file.structure(Struct {
                    doc: self.doc(object.description, None),
                    name: name.clone(),
                    base: None,
                    fields,
                });
                file.output_type(Doc::default(), &format!("{name}Output"), &name);
                if self.is_generic() {
                    file.generic_result(&name, &name);
                }
                self.accessors(&name, Holder::Value, &entries, file);
            }
            Result::PlainValue(ty) => {
                let value = self.value(ty, &mut file.imports);
                let output = self.output(ty, &mut file.imports);
                let field = Field {
                    doc: Doc::default(),
                    name: "Res".to_owned(),
                    ty: value.clone(),
                    tag: names::tag("res"),
                };
                file.structure(Struct {
                    doc: Doc::default(),
                    name: name.clone(),
                    base: None,
                    fields: vec![field],
                });
                file.output_type(Doc::default(), &format!("{name}Output"), &name);
                if self.is_generic() {
                    // Generic code unwraps the value itself, so the wrapper needs no accessor.
                    return;
                }
                let mut body = Body::default();
                body.closure(
                    "return o.ApplyT(",
                    &format!("func(v {name}) {value}"),
                    "return v.Res",
                    &format!(").({output})"),
                );
                let signature = format!("func (o {name}Output) Res() {output}");
                file.function(Doc::default(), signature, body);
            }
        }
    }
}

fn result_output(base: &str, result: &Result<'_, '_>) -> String {
    match result {
        Result::Nothing => "pulumi.AnyOutput".to_owned(),
        Result::Lifted(_) => names::hidden(&format!("{base}ResultOutput")),
        _ => format!("{base}ResultOutput"),
    }
}
