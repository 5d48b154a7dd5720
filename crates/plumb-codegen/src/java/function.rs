//! Functions: a class per module with its functions, and for each function its arguments and result
//! (`codegen.md` 6).

use plumb_schema::Section;
use plumb_schema::bound::{Function, Object, Returns, Type, TypeKind, TypeShape, member_of};

use super::args::{Args, Purpose};
use super::docs::deprecated;
use super::imports::Imports;
use super::names;
use super::sdk::{Sdk, split};
use super::types::{JavaType, MAP, Shape};
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, MemberKind, SourceFile};

/// Variants of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    /// Takes and returns outputs.
    Output,
    /// Takes plain values and returns a future.
    Plain,
}

/// Names and expressions for a function in its file.
struct Names {
    /// Method name.
    method: String,
    token: String,
    args: String,
    result: String,
    /// Expression for the result type.
    shape: String,
    /// Type around the result.
    holder: String,
    /// Expression that takes the value out of the returned map; `None` if the result is an object.
    unwrapped: Option<String>,
}

impl<'d> Sdk<'_, 'd> {
    /// Files of a function's arguments and result.
    pub(super) fn function_files(&self, position: usize) -> Result<Vec<SourceFile>, GenerateError> {
        let function = &self.package.functions[position];
        let classes = &self.functions[position];
        let mut files = Vec::new();
        if let Some(inputs) = &function.inputs {
            files.push(self.function_args(&classes.args, inputs, Shape::Input)?);
            if function.plain {
                files.push(self.function_args(&classes.plain_args, inputs, Shape::Plain)?);
            }
        }
        if let Returns::Object(object) = &function.returns {
            let doc = self.doc(object.description, None);
            let properties = &object.properties;
            files.push(self.result_file(&classes.result, doc, properties, Shape::Output)?);
        }
        Ok(files)
    }

    fn function_args(
        &self,
        class: &str,
        inputs: &Object<'d>,
        shape: Shape,
    ) -> Result<SourceFile, GenerateError> {
        self.args_file(Args {
            class,
            doc: self.doc(inputs.description, None),
            properties: &inputs.properties,
            purpose: Purpose::Function,
            shape,
        })
    }

    /// Class with the functions of a module.
    pub(super) fn functions_file(&self, module: &str) -> Result<SourceFile, GenerateError> {
        let class = self.functions_class(module);
        let (package, name) = split(&class);
        let mut imports = Imports::of(package, name);
        let mut members = Vec::new();
        for &position in self.modules.get(module).into_iter().flatten() {
            if self.has_function(position) {
                members.extend(self.methods_of(position, &mut imports));
            }
        }
        Ok(SourceFile {
            path: Self::path(&class)?,
            head: imports.lines(),
            namespace: None,
            types: vec![Class {
                doc: Doc::default(),
                attributes: Vec::new(),
                header: format!("public final class {name}"),
                members,
            }],
        })
    }

    /// All overloads of a function.
    pub(super) fn methods_of(&self, position: usize, imports: &mut Imports) -> Vec<Member> {
        let function = &self.package.functions[position];
        let doc = self.doc(function.description, function.deprecation);
        let mut overloads = Vec::new();
        let mut variants = vec![Variant::Output];
        if function.plain {
            variants.push(Variant::Plain);
        }
        let inputs = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let is_needed = inputs.clone().any(|property| property.required);
        for variant in variants {
            let names = self.names_of(position, variant, imports);
            let options = imports.name("com.pulumi.deployment.InvokeOptions");
            if !is_needed {
                let call = format!("{}({}.Empty, {options}.Empty)", names.method, names.args);
                overloads.push(overload(&names, "", &call));
            }
            let args = format!("{} args", names.args);
            let call = format!("{}(args, {options}.Empty)", names.method);
            overloads.push(overload(&names, &args, &call));
            let mut accepted = vec![options];
            if variant == Variant::Output {
                accepted.push(imports.name("com.pulumi.deployment.InvokeOutputOptions"));
            }
            for options in accepted {
                let parameters = format!("{args}, {options} options");
                let call = self.call(&names, variant, imports);
                overloads.push(overload(&names, &parameters, &call));
            }
        }
        let marks = deprecated(function.deprecation);
        let member = |(signature, body): (String, Body)| Member {
            doc: Doc::clone(&doc),
            attributes: marks.clone(),
            kind: MemberKind::Method { signature, body },
        };
        overloads.into_iter().map(member).collect()
    }

    fn names_of(&self, position: usize, variant: Variant, imports: &mut Imports) -> Names {
        let function = &self.package.functions[position];
        let classes = &self.functions[position];
        let base = names::identifier(member_of(function.token));
        let args = match (&function.inputs, variant) {
            (None, _) => "com.pulumi.resources.InvokeArgs",
            (Some(_), Variant::Output) => &classes.args,
            (Some(_), Variant::Plain) => &classes.plain_args,
        };
        let (method, holder, apply) = match variant {
            Variant::Output => (base, "com.pulumi.core.Output", "applyValue"),
            Variant::Plain => (
                format!("{base}Plain"),
                "java.util.concurrent.CompletableFuture",
                "thenApply",
            ),
        };
        let result = self.result_type(function, &classes.result);
        let is_single = match &function.returns {
            Returns::Nothing | Returns::Object(_) => false,
            Returns::Value(ty) => !self.is_object(ty),
        };
        let mut names = Names {
            method,
            token: names::string(function.token),
            args: imports.name(args),
            result: result.render(imports),
            shape: String::new(),
            holder: imports.name(holder),
            unwrapped: None,
        };
        if is_single {
            // The core SDK decodes only objects; a single value is returned in a map with one entry.
            names.unwrapped = Some(format!(".{apply}(it -> it.values().iterator().next())"));
            names.shape = JavaType {
                class: MAP.to_owned(),
                arguments: vec![JavaType::class("java.lang.String"), result],
            }
            .shape(imports);
        } else {
            names.shape = result.shape(imports);
        }
        names
    }

    fn result_type(&self, function: &Function<'d>, class: &str) -> JavaType {
        match &function.returns {
            Returns::Nothing => JavaType::class("java.lang.Void"),
            Returns::Object(_) => JavaType::class(class),
            Returns::Value(ty) => self.java_type(ty, Shape::Output),
        }
    }

    fn is_object(&self, ty: &Type<'_>) -> bool {
        match &ty.kind {
            TypeKind::Defined(position) => {
                matches!(self.package.types[*position].shape, TypeShape::Object(_))
            }
            TypeKind::External(external) => {
                external.section == Section::Type && external.enum_type.is_none()
            }
            TypeKind::Map(_) | TypeKind::Any => true,
            _ => false,
        }
    }

    fn call(&self, names: &Names, variant: Variant, imports: &mut Imports) -> String {
        let deployment = imports.name("com.pulumi.deployment.Deployment");
        let utilities = imports.name(&self.utilities_class());
        let call = match variant {
            Variant::Output => "invoke",
            Variant::Plain => "invokeAsync",
        };
        let package = if self.package.parameterization.is_some() {
            format!(", {utilities}.getPackageRef()")
        } else {
            String::new()
        };
        let Names { token, shape, .. } = names;
        let unwrapped = names.unwrapped.as_deref().unwrap_or_default();
        format!(
            "{deployment}.getInstance().{call}({token}, {shape}, args, {utilities}.withVersion(options){package}){unwrapped}"
        )
    }
}

fn overload(names: &Names, parameters: &str, call: &str) -> (String, Body) {
    let Names {
        holder,
        result,
        method,
        ..
    } = names;
    (
        format!("public static {holder}<{result}> {method}({parameters})"),
        Body::of(format!("return {call};")),
    )
}
