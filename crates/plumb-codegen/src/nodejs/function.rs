//! Functions: a plain variant and an output variant (`codegen.md` 2.8).

use plumb_schema::Section;
use plumb_schema::bound::{Function, Property, Returns, Type, TypeKind, TypeShape, member_of};

use super::imports::Imports;
use super::model::{Body, Callable, Interface, Item, SourceFile};
use super::names;
use super::sdk::{Sdk, quoted};
use super::types::Shape;
use super::values::Given;
use crate::GenerateError;

/// Names of a function.
pub(super) struct FunctionNames {
    /// Name of the plain variant.
    pub(super) plain: String,
    /// Prefix of its interfaces.
    title: String,
}

/// Variants of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    Output,
}

impl Variant {
    fn shape(self) -> Shape {
        match self {
            Variant::Plain => Shape::Plain,
            Variant::Output => Shape::Input,
        }
    }

    fn args_ending(self) -> &'static str {
        match self {
            Variant::Plain => "Args",
            Variant::Output => "OutputArgs",
        }
    }
}

/// Exports of the index for a function.
pub(super) struct Exports {
    pub(super) types: Vec<String>,
    pub(super) values: Vec<String>,
}

impl<'p, 'd> Sdk<'p, 'd> {
    pub(super) fn function_names(function: &Function<'_>) -> FunctionNames {
        let plain = names::identifier(&names::camel(member_of(function.token)));
        FunctionNames {
            title: names::title(&plain),
            plain,
        }
    }

    fn variants(function: &Function<'_>) -> Vec<Variant> {
        let mut variants = Vec::new();
        if function.plain {
            variants.push(Variant::Plain);
        }
        if !matches!(function.returns, Returns::Nothing) {
            variants.push(Variant::Output);
        }
        variants
    }

    pub(super) fn function_exports(function: &Function<'d>) -> Exports {
        let names = Self::function_names(function);
        let mut exports = Exports {
            types: Vec::new(),
            values: Vec::new(),
        };
        let has_result = matches!(function.returns, Returns::Object(_));
        for variant in Self::variants(function) {
            if Self::has_args_interface(function, variant) {
                let ending = variant.args_ending();
                exports.types.push(format!("{}{ending}", names.title));
            }
            exports.values.push(match variant {
                Variant::Plain => names.plain.clone(),
                Variant::Output => format!("{}Output", names.plain),
            });
            if has_result && exports.values.len() == 1 {
                exports.types.push(format!("{}Result", names.title));
            }
        }
        exports
    }

    fn has_args_interface(function: &Function<'_>, variant: Variant) -> bool {
        let Some(inputs) = &function.inputs else {
            return false;
        };
        function.positional.is_empty()
            && (variant == Variant::Plain || !inputs.properties.is_empty())
    }

    /// File of a function.
    pub(super) fn function_file(
        &self,
        function: &'p Function<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let folder = Self::folder_of(&self.module_of(function.token));
        let mut imports = Imports::in_folder(&folder);
        imports.pulumi = true;
        imports.utilities = true;
        let names = Self::function_names(function);
        let mut items = Vec::new();
        let mut result = self.result_interface(function, &names, &mut imports);
        for variant in Self::variants(function) {
            let callable = self.variant(function, &names, variant, &mut imports);
            items.push(Item::Function(callable));
            let args = self.args_interface(function, &names, variant, &mut imports);
            items.extend(args.map(Item::Interface));
            items.extend(result.take().map(Item::Interface));
        }
        let file = self.file_name(function.token);
        Ok(SourceFile {
            path: Self::path(&folder, &format!("{file}.ts"))?,
            imports: imports.lines(),
            items,
        })
    }

    /// Signatures of the plain variant and of the output variant.
    pub(super) fn function_signatures(&self, function: &'p Function<'d>) -> [Option<String>; 2] {
        let names = Self::function_names(function);
        let mut imports = Imports::in_folder("");
        let mut signature = |variant| {
            let is_there = Self::variants(function).contains(&variant);
            is_there.then(|| {
                self.variant(function, &names, variant, &mut imports)
                    .signature
            })
        };
        [signature(Variant::Plain), signature(Variant::Output)]
    }

    fn args_interface(
        &self,
        function: &'p Function<'d>,
        names: &FunctionNames,
        variant: Variant,
        imports: &mut Imports,
    ) -> Option<Interface> {
        if !Self::has_args_interface(function, variant) {
            return None;
        }
        let inputs = function.inputs.as_ref()?;
        let name = format!("{}{}", names.title, variant.args_ending());
        Some(self.interface(
            self.doc(inputs.description, None),
            name,
            &inputs.properties,
            variant.shape(),
            imports,
        ))
    }

    fn result_interface(
        &self,
        function: &'p Function<'d>,
        names: &FunctionNames,
        imports: &mut Imports,
    ) -> Option<Interface> {
        let Returns::Object(object) = &function.returns else {
            return None;
        };
        let name = format!("{}Result", names.title);
        let mut interface = self.interface(
            self.doc(object.description, None),
            name,
            &object.properties,
            Shape::Output,
            imports,
        );
        for field in &mut interface.fields {
            field.modifiers = "readonly ";
        }
        Some(interface)
    }

    fn variant(
        &self,
        function: &'p Function<'d>,
        names: &FunctionNames,
        variant: Variant,
        imports: &mut Imports,
    ) -> Callable {
        let result = match &function.returns {
            Returns::Nothing => "void".to_owned(),
            Returns::Object(_) => format!("{}Result", names.title),
            Returns::Value(ty) => self.required(ty, Shape::Output, imports),
        };
        let (name, options, result) = match variant {
            Variant::Plain => (
                names.plain.clone(),
                "pulumi.InvokeOptions",
                format!("Promise<{result}>"),
            ),
            Variant::Output => (
                format!("{}Output", names.plain),
                "pulumi.InvokeOutputOptions",
                format!("pulumi.Output<{result}>"),
            ),
        };
        let mut parameters = self.parameters(function, names, variant, imports);
        parameters.push(format!("opts?: {options}"));
        let parameters = parameters.join(", ");
        Callable {
            doc: self.doc(function.description, function.deprecation),
            overloads: Vec::new(),
            signature: format!("export function {name}({parameters}): {result}"),
            body: Some(self.variant_body(function, names, variant, imports)),
        }
    }

    /// Properties in positional order.
    fn positional<'f>(function: &'f Function<'d>) -> Vec<&'f Property<'d>> {
        let properties = function.inputs.as_ref().map(|inputs| &inputs.properties);
        let find = |name: &&str| properties?.iter().find(|property| property.name == *name);
        function.positional.iter().filter_map(find).collect()
    }

    fn parameters(
        &self,
        function: &'p Function<'d>,
        names: &FunctionNames,
        variant: Variant,
        imports: &mut Imports,
    ) -> Vec<String> {
        if !function.positional.is_empty() {
            let properties = Self::positional(function);
            // Optional parameters must follow the last required one.
            let last_required = properties.iter().rposition(|property| property.required);
            let parameter = |(index, property): (usize, &&Property<'d>)| {
                let can_be_absent = last_required.is_none_or(|last| index > last);
                let ty = self.property_type(property, property.required, variant.shape(), imports);
                let (mark, ty) = match (property.required, can_be_absent) {
                    (false, true) => ("?", ty),
                    (false, false) => ("", format!("{ty} | undefined")),
                    (true, _) => ("", ty),
                };
                format!("{}{mark}: {ty}", names::identifier(property.name))
            };
            return properties.iter().enumerate().map(parameter).collect();
        }
        if !Self::has_args_interface(function, variant) {
            return Vec::new();
        }
        let mark = if Self::needs_args(function) { "" } else { "?" };
        vec![format!(
            "args{mark}: {}{}",
            names.title,
            variant.args_ending()
        )]
    }

    fn needs_args(function: &Function<'_>) -> bool {
        let mut inputs = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        inputs.any(|property| property.required)
    }

    fn variant_body(
        &self,
        function: &'p Function<'d>,
        names: &FunctionNames,
        variant: Variant,
        imports: &mut Imports,
    ) -> Vec<super::model::Line> {
        let mut body = Body::default();
        if let Some(deprecation) = function.deprecation {
            body.line(Self::warning(&names.plain, deprecation));
        }
        let has_args = Self::has_args_interface(function, variant);
        if has_args && !Self::needs_args(function) {
            body.line("args = args || {};");
        }
        body.line("opts = pulumi.mergeOptions(utilities.resourceOptsDefaults(), opts || {});");
        let call = match (variant, self.is_single(&function.returns)) {
            (Variant::Plain, false) => "invoke",
            (Variant::Plain, true) => "invokeSingle",
            (Variant::Output, false) => "invokeOutput",
            (Variant::Output, true) => "invokeSingleOutput",
        };
        let package = if self.is_parameterized() {
            ", utilities.getPackage()"
        } else {
            ""
        };
        let open = format!(
            "return pulumi.runtime.{call}({}, {{",
            quoted(function.token)
        );
        let is_positional = !function.positional.is_empty();
        body.block(open, &format!("}}, opts{package});"), |body| {
            for property in function.inputs.iter().flat_map(|inputs| &inputs.properties) {
                let given = if is_positional {
                    Given::named(names::identifier(property.name))
                } else {
                    Given::of("args", property.name)
                };
                let value = self.sent_value(property, &given, variant.shape(), imports);
                body.line(format!("{}: {value},", quoted(property.name)));
            }
        });
        body.lines
    }

    /// Whether the result is the only value of the map that the provider returns.
    fn is_single(&self, returns: &Returns<'_>) -> bool {
        match returns {
            Returns::Nothing | Returns::Object(_) => false,
            Returns::Value(ty) => !self.is_object(ty),
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
            _ => false,
        }
    }
}
