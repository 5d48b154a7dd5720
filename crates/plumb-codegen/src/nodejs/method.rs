//! Methods of resources (`codegen.md` 2.4).

use std::fmt::Write as _;

use plumb_schema::bound::{Function, Method, Property, Returns};

use super::imports::Imports;
use super::model::{Body, Callable, Doc, Interface};
use super::names;
use super::sdk::{Sdk, quoted};
use super::types::Shape;
use super::values::Given;

impl<'p, 'd> Sdk<'p, 'd> {
    fn function_of(&self, method: &Method<'_>) -> &'p Function<'d> {
        &self.package.functions[method.function]
    }

    /// Arguments of a method, without the resource itself.
    fn method_args<'f>(function: &'f Function<'d>) -> Vec<&'f Property<'d>> {
        let inputs = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        inputs
            .filter(|property| property.name != "__self__")
            .collect()
    }

    /// Whether the method is generated. Results that are neither objects nor plain are not
    /// supported by the core SDK.
    fn is_offered(function: &Function<'_>) -> bool {
        function.returns_plain || !matches!(function.returns, Returns::Value(_))
    }

    /// The property that replaces the result object, if the package returns single values without
    /// the object around them.
    fn lifted<'f>(&self, function: &'f Function<'d>) -> Option<&'f Property<'d>> {
        let Returns::Object(object) = &function.returns else {
            return None;
        };
        match &object.properties[..] {
            [only] if self.settings.lift_single_value_returns => Some(only),
            _ => None,
        }
    }

    pub(super) fn method(
        &self,
        class: &str,
        method: &Method<'_>,
        imports: &mut Imports,
    ) -> Option<Callable> {
        let function = self.function_of(method);
        if !Self::is_offered(function) {
            return None;
        }
        let args = Self::method_args(function);
        let title = names::identifier(&names::title(method.name));
        let mark = if args.iter().any(|property| property.required) {
            ""
        } else {
            "?"
        };
        let parameters = if args.is_empty() {
            String::new()
        } else {
            format!("args{mark}: {class}.{title}Args")
        };
        let returns = self.method_returns(class, &title, function, imports);
        let name = names::key(&names::camel(method.name)).into_owned();
        let mut body = Body::default();
        if let Some(deprecation) = function.deprecation {
            let name = format!("{class}.{}", method.name);
            body.line(Self::warning(&name, deprecation));
        }
        if mark == "?" && !args.is_empty() {
            body.line("args = args || {};");
        }
        self.method_call(&mut body, function, &args, imports);
        Some(Callable {
            doc: self.doc(function.description, function.deprecation),
            overloads: Vec::new(),
            signature: format!("{name}({parameters}): {returns}"),
            body: Some(body.lines),
        })
    }

    fn method_returns(
        &self,
        class: &str,
        title: &str,
        function: &Function<'d>,
        imports: &mut Imports,
    ) -> String {
        let value = match (&function.returns, self.lifted(function)) {
            (Returns::Nothing, _) => return "void".to_owned(),
            (_, Some(lifted)) => {
                let ty = self.property_type(lifted, lifted.required, Shape::Output, imports);
                if lifted.required {
                    ty
                } else {
                    format!("{ty} | undefined")
                }
            }
            (Returns::Object(_), None) => format!("{class}.{title}Result"),
            (Returns::Value(ty), None) => self.required(ty, Shape::Output, imports),
        };
        if function.returns_plain {
            format!("Promise<{value}>")
        } else {
            format!("pulumi.Output<{value}>")
        }
    }

    fn method_call(
        &self,
        body: &mut Body,
        function: &Function<'d>,
        args: &[&Property<'d>],
        imports: &mut Imports,
    ) {
        let lifted = self.lifted(function);
        let token = quoted(function.token);
        let open = match (&function.returns, function.returns_plain, lifted) {
            (Returns::Nothing, ..) => format!("pulumi.runtime.call({token}, {{"),
            (_, true, _) => format!("return utilities.callAsync({token}, {{"),
            (_, false, None) => format!("return pulumi.runtime.call({token}, {{"),
            (_, false, Some(_)) => {
                format!("const result: pulumi.Output<any> = pulumi.runtime.call({token}, {{")
            }
        };
        let mut rest = String::from("}, this");
        let property = match (&function.returns, lifted) {
            (_, Some(lifted)) => Some(lifted.name),
            (Returns::Value(_), None) => Some("res"),
            _ => None,
        };
        if function.returns_plain {
            if let Some(property) = property {
                let _ = write!(rest, ", {{ property: {} }}", quoted(property));
            }
        } else if self.is_parameterized() {
            rest.push_str(", utilities.getPackage()");
        }
        rest.push_str(");");
        body.block(open, &rest, |body| {
            body.line("\"__self__\": this,");
            for property in args {
                let given = Given::of("args", property.name);
                let value = self.sent_value(property, &given, Shape::Input, imports);
                body.line(format!("{}: {value},", quoted(property.name)));
            }
        });
        if let (false, Some(lifted)) = (function.returns_plain, lifted) {
            let member = names::member("value", lifted.name);
            body.line(format!(
                "return result.apply((value: any) => {member}) as any;"
            ));
        }
    }

    /// Interfaces for the arguments and the result of a method.
    pub(super) fn method_types(
        &self,
        method: &Method<'_>,
        imports: &mut Imports,
    ) -> Vec<Interface> {
        let function = self.function_of(method);
        let mut interfaces = Vec::new();
        if !Self::is_offered(function) {
            return interfaces;
        }
        let title = names::identifier(&names::title(method.name));
        let args = Self::method_args(function);
        if !args.is_empty() {
            let doc = Doc {
                lines: vec![format!(
                    "The set of arguments for the {} method.",
                    method.name
                )],
            };
            let name = format!("{title}Args");
            interfaces.push(self.interface(doc, name, args, Shape::Input, imports));
        }
        if let (Returns::Object(object), None) = (&function.returns, self.lifted(function)) {
            let doc = Doc {
                lines: vec![format!("The results of the {} method.", method.name)],
            };
            let name = format!("{title}Result");
            let mut interface =
                self.interface(doc, name, &object.properties, Shape::Output, imports);
            for field in &mut interface.fields {
                field.modifiers = "readonly ";
            }
            interfaces.push(interface);
        }
        interfaces
    }
}
