//! Functions and methods (`codegen.md` 5.2, 5.4).

use plumb_schema::Section;
use plumb_schema::bound::{Function, Method, Object, Property, Returns, Type, TypeKind};

use super::args::{Args, Purpose};
use super::names;
use super::sdk::{Sdk, Shape};
use super::types::Given;
use crate::GenerateError;
use crate::classes::{Body, Class, Member, SourceFile};

const TASK: &str = "global::System.Threading.Tasks.Task";
const INSTANCE: &str = "global::Pulumi.Deployment.Instance";

/// Variants of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    /// Takes plain values and returns a task.
    Plain,
    /// Takes and returns outputs.
    Output,
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// The file of a function.
    pub(super) fn function_file(
        &self,
        function: &'p Function<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let name = Self::function_name(function.token);
        let namespace = self.namespace_of(function.token);
        let path = self.path(&namespace, &name)?;
        let mut members = Vec::new();
        let mut types = Vec::new();
        if function.plain {
            members.push(self.variant(function, &name, Variant::Plain));
            types.extend(self.function_args(function, format!("{name}Args"), Shape::Plain));
        }
        if !matches!(function.returns, Returns::Nothing) {
            members.extend(self.output_variants(function, &name));
            let has_any = function
                .inputs
                .as_ref()
                .is_some_and(|it| !it.properties.is_empty());
            if has_any {
                let args = format!("{name}InvokeArgs");
                types.extend(self.function_args(function, args, Shape::FunctionInput));
            }
        }
        if let Returns::Object(object) = &function.returns {
            types.push(self.function_result("public", format!("{name}Result"), object));
        }
        types.insert(
            0,
            Class {
                doc: self.doc(function.description),
                attributes: self.obsolete(function.deprecation),
                header: format!("public static class {name}"),
                members,
            },
        );
        Ok(Self::file(path, namespace, types))
    }

    /// The plain variant and the output variant of a function.
    pub(super) fn function_variants(&self, function: &'p Function<'d>) -> [Option<Member>; 2] {
        let name = Self::function_name(function.token);
        let gives = !matches!(function.returns, Returns::Nothing);
        [
            function
                .plain
                .then(|| self.variant(function, &name, Variant::Plain)),
            gives.then(|| self.variant(function, &name, Variant::Output)),
        ]
    }

    fn function_args(
        &self,
        function: &'p Function<'d>,
        name: String,
        shape: Shape,
    ) -> Option<Class> {
        let inputs = function.inputs.as_ref()?;
        if !function.positional.is_empty() {
            return None;
        }
        Some(self.args_class(Args {
            name: &name,
            doc: self.doc(inputs.description),
            properties: &inputs.properties,
            purpose: Purpose::Function,
            shape,
        }))
    }

    fn function_result(&self, visibility: &str, name: String, object: &'p Object<'d>) -> Class {
        let doc = self.doc(object.description);
        self.result_class(visibility, &name, doc, &object.properties, Shape::Result)
    }

    /// The output variant, once per kind of options.
    fn output_variants(&self, function: &'p Function<'d>, name: &str) -> Vec<Member> {
        let mut members = vec![self.variant(function, name, Variant::Output)];
        if function.positional.is_empty() {
            let options = "global::Pulumi.InvokeOutputOptions options";
            let args = Self::parameter(function, name, Variant::Output, false);
            let parameters = args.map_or(options.to_owned(), |args| format!("{args}, {options}"));
            members.push(self.method_of(function, name, Variant::Output, &parameters));
        }
        members
    }

    fn variant(&self, function: &'p Function<'d>, name: &str, variant: Variant) -> Member {
        if !function.positional.is_empty() {
            return self.positional_variant(function, name, variant);
        }
        let options = "global::Pulumi.InvokeOptions? options = null";
        let args = Self::parameter(function, name, variant, true);
        let parameters = args.map_or(options.to_owned(), |args| format!("{args}, {options}"));
        self.method_of(function, name, variant, &parameters)
    }

    /// Parameter for the arguments; `None` for a function without any.
    fn parameter(
        function: &'p Function<'d>,
        name: &str,
        variant: Variant,
        can_be_absent: bool,
    ) -> Option<String> {
        let class = Self::args_name(function, name, variant)?;
        let inputs = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let is_needed = inputs.clone().any(|property| property.required);
        Some(match (is_needed, can_be_absent) {
            (true, _) | (false, false) => format!("{class} args"),
            (false, true) => format!("{class}? args = null"),
        })
    }

    fn args_name(function: &Function<'_>, name: &str, variant: Variant) -> Option<String> {
        let inputs = function.inputs.as_ref()?;
        match variant {
            Variant::Plain => Some(format!("{name}Args")),
            Variant::Output if inputs.properties.is_empty() => None,
            Variant::Output => Some(format!("{name}InvokeArgs")),
        }
    }

    fn result(&self, function: &Function<'d>, name: &str) -> Option<String> {
        match &function.returns {
            Returns::Nothing => None,
            Returns::Object(_) => Some(format!("{name}Result")),
            Returns::Value(ty) => Some(self.value_type(ty, Shape::Result)),
        }
    }

    /// Return type of a variant, the method of the deployment that it calls, and that method's type argument.
    fn outcome(
        &self,
        function: &Function<'d>,
        name: &str,
        variant: Variant,
    ) -> (String, &'static str, String) {
        let result = self.result(function, name);
        let single = match &function.returns {
            Returns::Value(ty) if !self.is_object(ty) => "Single",
            _ => "",
        };
        let arguments = result
            .as_ref()
            .map(|it| format!("<{it}>"))
            .unwrap_or_default();
        match variant {
            Variant::Plain => (
                format!("{TASK}{arguments}"),
                "InvokeAsync",
                format!("{INSTANCE}.Invoke{single}Async{arguments}"),
            ),
            Variant::Output => (
                format!("global::Pulumi.Output{arguments}"),
                "Invoke",
                format!("{INSTANCE}.Invoke{single}{arguments}"),
            ),
        }
    }

    fn method_of(
        &self,
        function: &'p Function<'d>,
        name: &str,
        variant: Variant,
        parameters: &str,
    ) -> Member {
        let (returned, method, call) = self.outcome(function, name, variant);
        let args = match Self::args_name(function, name, variant) {
            Some(class) => format!("args ?? new {class}()"),
            None => "global::Pulumi.InvokeArgs.Empty".to_owned(),
        };
        let token = names::string(function.token);
        let package = self.package_argument();
        let package = package.map(|it| format!(", {it}")).unwrap_or_default();
        let utilities = self.utilities();
        let body = Body::of(format!(
            "return {call}({token}, {args}, {utilities}.WithDefaults(options){package});"
        ));
        Member::method(
            format!("public static {returned} {method}({parameters})"),
            body,
        )
        .with_doc(&self.doc(function.description))
    }

    /// A variant with positional arguments.
    fn positional_variant(
        &self,
        function: &'p Function<'d>,
        name: &str,
        variant: Variant,
    ) -> Member {
        let shape = match variant {
            Variant::Plain => Shape::Plain,
            Variant::Output => Shape::FunctionInput,
        };
        let inputs = function.inputs.as_ref().map(|inputs| &inputs.properties);
        let find = |name: &&str| inputs?.iter().find(|property| property.name == *name);
        let properties: Vec<&Property<'d>> = function.positional.iter().filter_map(find).collect();
        // C# allows default values only for parameters after the last required one.
        let last_required = properties.iter().rposition(|property| property.required);
        let mut parameters = Vec::new();
        let dictionary = "global::System.Collections.Immutable.ImmutableDictionary";
        let mut body = Body::of(format!(
            "var builder = {dictionary}.CreateBuilder<string, object?>();"
        ));
        for (index, property) in properties.iter().enumerate() {
            let (Given::Value(ty) | Given::Input(ty) | Given::Collection { ty, .. }) =
                self.given(&property.ty, shape);
            let parameter = names::parameter(property.name);
            parameters.push(
                match (property.required, last_required.is_none_or(|it| index > it)) {
                    (true, _) => format!("{ty} {parameter}"),
                    (false, true) => format!("{ty}? {parameter} = null"),
                    (false, false) => format!("{ty}? {parameter}"),
                },
            );
            let key = names::string(property.name);
            if property.required {
                body.line(format!("builder[{key}] = {parameter};"));
            } else {
                body.block(format!("if ({parameter} != null)"), |body| {
                    body.line(format!("builder[{key}] = {parameter};"));
                });
            }
        }
        parameters.push("global::Pulumi.InvokeOptions? invokeOptions = null".to_owned());
        let (returned, method, call) = self.outcome(function, name, variant);
        let token = names::string(function.token);
        let package = self.package_argument();
        let package = package.map(|it| format!(", {it}")).unwrap_or_default();
        let utilities = self.utilities();
        body.line("var args = new global::Pulumi.DictionaryInvokeArgs(builder.ToImmutable());");
        body.line(format!(
            "return {call}({token}, args, {utilities}.WithDefaults(invokeOptions){package});"
        ));
        let signature = format!(
            "public static {returned} {method}({})",
            parameters.join(", ")
        );
        Member::method(signature, body).with_doc(&self.doc(function.description))
    }

    fn is_object(&self, ty: &Type<'_>) -> bool {
        match &ty.kind {
            TypeKind::Defined(position) => !self.is_enum(*position),
            TypeKind::External(external) => {
                external.section == Section::Type && external.enum_type.is_none()
            }
            _ => false,
        }
    }

    /// A method of a resource; `None` if its result is a value without an object around it, as in other languages.
    pub(super) fn method(&self, class: &str, method: &Method<'d>) -> Option<Member> {
        let function = &self.package.functions[method.function];
        let name = names::title(method.name);
        let prefix = format!("{class}{name}");
        let (returned, generic, lifted) = match &function.returns {
            Returns::Nothing => ("void".to_owned(), String::new(), String::new()),
            Returns::Object(object) => match self.lifted(object) {
                Some(property) => {
                    let ty = self.optional_value(property, Shape::Result);
                    let result = format!("{prefix}Result");
                    let names = names::properties([property.name].into_iter(), &result);
                    (
                        format!("global::Pulumi.Output<{ty}>"),
                        format!("<{result}>"),
                        format!(".Apply(v => v.{})", names.join("")),
                    )
                }
                None => (
                    format!("global::Pulumi.Output<{prefix}Result>"),
                    format!("<{prefix}Result>"),
                    String::new(),
                ),
            },
            Returns::Value(ty) if self.is_object(ty) => {
                let ty = self.value_type(ty, Shape::Result);
                (
                    format!("global::Pulumi.Output<{ty}>"),
                    format!("<{ty}>"),
                    String::new(),
                )
            }
            Returns::Value(_) => return None,
        };
        let inputs = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let mut inputs = inputs
            .filter(|property| property.name != "__self__")
            .peekable();
        let has_args = inputs.peek().is_some();
        let is_needed = inputs.any(|property| property.required);
        let (parameter, args) = match (has_args, is_needed) {
            (false, _) => (String::new(), "global::Pulumi.CallArgs.Empty".to_owned()),
            (true, true) => (format!("{prefix}Args args"), "args".to_owned()),
            (true, false) => (
                format!("{prefix}Args? args = null"),
                format!("args ?? new {prefix}Args()"),
            ),
        };
        let package = self.package_argument();
        let package = package
            .map(|it| format!(", null, {it}"))
            .unwrap_or_default();
        let token = names::string(function.token);
        let give = if generic.is_empty() { "" } else { "return " };
        let body = Body::of(format!(
            "{give}{INSTANCE}.Call{generic}({token}, {args}, this{package}){lifted};"
        ));
        let member = Member::method(format!("public {returned} {name}({parameter})"), body)
            .with_doc(&self.doc(function.description))
            .with_attributes(self.obsolete(function.deprecation));
        Some(member)
    }

    /// The only property of a result object, if the package returns single values without the object around them.
    fn lifted<'o>(&self, object: &'o Object<'d>) -> Option<&'o Property<'d>> {
        match &object.properties[..] {
            [property] if self.settings.lift_single_value_returns => Some(property),
            _ => None,
        }
    }

    /// Classes of a method's arguments and result.
    pub(super) fn method_classes(&self, class: &str, method: &Method<'d>) -> Vec<Class> {
        let function = &self.package.functions[method.function];
        let prefix = format!("{class}{}", names::title(method.name));
        let mut classes = Vec::new();
        if let Some(inputs) = &function.inputs
            && inputs.properties.len() > 1
        {
            classes.push(self.args_class(Args {
                name: &format!("{prefix}Args"),
                doc: self.doc(inputs.description),
                properties: &inputs.properties,
                purpose: Purpose::Method,
                shape: Shape::FunctionInput,
            }));
        }
        if let Returns::Object(object) = &function.returns {
            let visibility = match self.lifted(object) {
                Some(_) => "internal",
                None => "public",
            };
            classes.push(self.function_result(visibility, format!("{prefix}Result"), object));
        }
        classes
    }
}
