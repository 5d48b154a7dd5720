//! Classes that users fill in: arguments of resources and functions, state of lookups, and nested
//! objects.

use plumb_schema::bound::Property;

use super::docs::deprecated;
use super::imports::Imports;
use super::names::{self, Owner, PropertyNames};
use super::sdk::{Sdk, split};
use super::types::{EITHER, JavaType, Shape};
use super::values::Storage;
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, MemberKind, SourceFile};

const OUTPUT: &str = "com.pulumi.core.Output";
const NULLABLE: &str = "javax.annotation.Nullable";
const MISSING: &str = "com.pulumi.exceptions.MissingRequiredPropertyException";

/// Consumer of a class of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A resource.
    Resource,
    /// A provider, whose settings are sent as strings.
    Provider,
    /// An object nested in other arguments, or the state of a lookup.
    Nested,
    /// A function.
    Function,
}

/// Request for one class of arguments.
pub(super) struct Args<'a, 'd> {
    /// Qualified name.
    pub(super) class: &'a str,
    pub(super) doc: Doc,
    pub(super) properties: &'a [Property<'d>],
    pub(super) purpose: Purpose,
    pub(super) shape: Shape,
}

/// A property with its names and type.
struct Argument<'a, 'd> {
    property: &'a Property<'d>,
    names: PropertyNames,
    ty: JavaType,
    storage: Storage,
    doc: Doc,
    attributes: Vec<String>,
}

impl Argument<'_, '_> {
    /// Type of the field.
    fn stored(&self, imports: &mut Imports) -> String {
        let ty = self.ty.render(imports);
        match self.storage {
            Storage::Bare => ty,
            Storage::Output | Storage::Secret => format!("{}<{ty}>", imports.name(OUTPUT)),
        }
    }

    fn nullable(&self, imports: &mut Imports) -> String {
        if self.property.required {
            String::new()
        } else {
            format!("@{} ", imports.name(NULLABLE))
        }
    }
}

impl<'d> Sdk<'_, 'd> {
    /// File of a class of arguments.
    pub(super) fn args_file(&self, args: Args<'_, 'd>) -> Result<SourceFile, GenerateError> {
        let (package, name) = split(args.class);
        let mut imports = Imports::of(package, name);
        let arguments = self.arguments(&args);
        let mut members = vec![empty(name, args.properties)];
        for argument in &arguments {
            members.extend(getter(argument, args.purpose, self, &mut imports));
        }
        members.extend(constructors(name, &arguments));
        members.push(Member::class(self.builder(
            name,
            &args,
            &arguments,
            &mut imports,
        )));
        let base = match (args.purpose, args.shape) {
            (Purpose::Function, _) | (_, Shape::Plain) => "com.pulumi.resources.InvokeArgs",
            _ => "com.pulumi.resources.ResourceArgs",
        };
        let base = imports.name(base);
        Ok(SourceFile {
            path: Self::path(args.class)?,
            head: imports.lines(),
            namespace: None,
            types: vec![Class {
                doc: args.doc,
                attributes: Vec::new(),
                header: format!("public final class {name} extends {base}"),
                members,
            }],
        })
    }

    fn arguments<'a>(&self, args: &Args<'a, 'd>) -> Vec<Argument<'a, 'd>> {
        let written = args.properties.iter().map(written_name);
        let names = names::properties(written, Owner::Object);
        let storage = |property: &Property<'_>| match (args.shape, property.ty.plain) {
            (Shape::Input, false) if property.secret && args.purpose.makes_secrets() => {
                Storage::Secret
            }
            (Shape::Input, false) => Storage::Output,
            _ => Storage::Bare,
        };
        let arguments = args.properties.iter().zip(names);
        arguments
            .map(|(property, names)| Argument {
                property,
                names,
                ty: self.java_type(&property.ty, args.shape),
                storage: storage(property),
                doc: self.doc(property.description, property.deprecation),
                attributes: deprecated(property.deprecation),
            })
            .collect()
    }

    fn builder(
        &self,
        name: &str,
        args: &Args<'_, 'd>,
        arguments: &[Argument<'_, 'd>],
        imports: &mut Imports,
    ) -> Class {
        let mut members = vec![
            Member::line(format!("private {name} $;")),
            Member::method("public Builder()", Body::of(format!("$ = new {name}();"))),
        ];
        if !arguments.is_empty() {
            let objects = imports.name("java.util.Objects");
            let body = Body::of(format!(
                "$ = new {name}({objects}.requireNonNull(defaults));"
            ));
            members.push(Member::method(
                format!("public Builder({name} defaults)"),
                body,
            ));
        }
        for argument in arguments {
            members.extend(setters(argument, imports));
        }
        let mut body = Body::default();
        for argument in arguments {
            self.completed(name, args, argument, &mut body, imports);
        }
        body.line("return $;");
        members.push(Member::method(format!("public {name} build()"), body));
        Class {
            doc: Doc::default(),
            attributes: Vec::new(),
            header: "public static final class Builder".to_owned(),
            members,
        }
    }

    /// Statements that fill in a value that the user omitted, or throw if it is required.
    fn completed(
        &self,
        name: &str,
        args: &Args<'_, 'd>,
        argument: &Argument<'_, 'd>,
        body: &mut Body,
        imports: &mut Imports,
    ) {
        let property = argument.property;
        let field = format!("$.{}", argument.names.field);
        let filled = self.filled_value(property, &field, args.shape, argument.storage, imports);
        if let Some(filled) = filled {
            body.line(format!("{field} = {filled};"));
            return;
        }
        if property.required {
            let missing = imports.name(MISSING);
            body.block(format!("if ({field} == null)"), |body| {
                let property = names::string(property.name);
                body.line(format!("throw new {missing}(\"{name}\", {property});"));
            });
        }
        if argument.storage == Storage::Secret {
            body.block(format!("if ({field} != null)"), |body| {
                body.line(format!("{field} = {field}.asSecret();"));
            });
        }
    }
}

impl Purpose {
    fn makes_secrets(self) -> bool {
        matches!(self, Purpose::Resource | Purpose::Provider)
    }
}

/// Name of a property; the `java` block of the schema can override it.
pub(super) fn written_name<'d>(property: &Property<'d>) -> &'d str {
    let block = property.language.get("java");
    let name = block.and_then(|block| block.get("name")?.as_str());
    name.filter(|name| !name.is_empty())
        .unwrap_or(property.name)
}

/// Constant for empty arguments. Contains defaults, unless a required property has none.
fn empty(name: &str, properties: &[Property<'_>]) -> Member {
    let has_fallback =
        |property: &Property<'_>| property.constant.is_some() || property.default.is_some();
    let is_filled = properties
        .iter()
        .any(|property| has_fallback(property) || property.default_info.is_some())
        && properties
            .iter()
            .all(|property| !property.required || has_fallback(property));
    let value = if is_filled {
        "builder().build()".to_owned()
    } else {
        format!("new {name}()")
    };
    Member::line(format!("public static final {name} Empty = {value};"))
}

/// Field of a property, and its getter.
fn getter(
    argument: &Argument<'_, '_>,
    purpose: Purpose,
    sdk: &Sdk<'_, '_>,
    imports: &mut Imports,
) -> [Member; 2] {
    let property = argument.property;
    let mut import = format!("name={}", names::string(property.name));
    if property.required {
        import.push_str(", required=true");
    }
    if purpose == Purpose::Provider && !sdk.is_textual(&property.ty) {
        import.push_str(", json=true");
    }
    let annotation = imports.name("com.pulumi.core.annotations.Import");
    let (ty, nullable) = (argument.stored(imports), argument.nullable(imports));
    let PropertyNames { field, method, .. } = &argument.names;
    let stored = Member::line(format!("private {nullable}{ty} {field};"))
        .with_attributes(vec![format!("@{annotation}({import})")]);
    let given = if property.required {
        Member::method(
            format!("public {ty} {method}()"),
            Body::of(format!("return this.{field};")),
        )
    } else {
        let optional = imports.name("java.util.Optional");
        Member::method(
            format!("public {optional}<{ty}> {method}()"),
            Body::of(format!("return {optional}.ofNullable(this.{field});")),
        )
    };
    let given = given
        .with_doc(&argument.doc)
        .with_attributes(argument.attributes.clone());
    [stored, given]
}

/// Constructors, and methods that return builders.
fn constructors(name: &str, arguments: &[Argument<'_, '_>]) -> Vec<Member> {
    let builder = Member::method(
        "public static Builder builder()",
        Body::of("return new Builder();"),
    );
    if arguments.is_empty() {
        return vec![builder];
    }
    let mut copy = Body::default();
    for argument in arguments {
        let field = &argument.names.field;
        copy.line(format!("this.{field} = $.{field};"));
    }
    vec![
        Member::method(format!("private {name}()"), Body::default()),
        Member::method(format!("private {name}({name} $)"), copy),
        builder,
        Member::method(
            format!("public static Builder builder({name} defaults)"),
            Body::of("return new Builder(defaults);"),
        ),
    ]
}

/// Setters of a property: one with the field's type, and overloads for shorter notations.
fn setters(argument: &Argument<'_, '_>, imports: &mut Imports) -> Vec<Member> {
    let PropertyNames {
        method,
        field,
        parameter,
    } = &argument.names;
    let mut stored = Body::of(format!("$.{field} = {parameter};"));
    stored.line("return this;");
    let ty = format!("{}{}", argument.nullable(imports), argument.stored(imports));
    let mut overloads = vec![(format!("{ty} {parameter}"), stored)];
    let mut erased = vec![argument.ty.class.as_str()];
    let forward = |value: String| Body::of(format!("return this.{method}({value});"));
    if argument.storage != Storage::Bare {
        erased = vec![OUTPUT, argument.ty.class.as_str()];
        let (ty, output) = (argument.ty.render(imports), imports.name(OUTPUT));
        overloads.push((
            format!("{ty} {parameter}"),
            forward(format!("{output}.of({parameter})")),
        ));
    }
    if let Some(element) = argument.ty.element() {
        let (ty, list) = (element.render(imports), imports.name(&argument.ty.class));
        overloads.push((
            format!("{ty}... {parameter}"),
            forward(format!("{list}.of({parameter})")),
        ));
    }
    if let Some((left, right)) = argument.ty.sides() {
        for (side, make) in [(left, "ofLeft"), (right, "ofRight")] {
            // Overloads whose parameter types differ only in type arguments have the same erasure,
            // which Java rejects.
            if erased.contains(&side.class.as_str()) {
                continue;
            }
            erased.push(&side.class);
            let (ty, either) = (side.render(imports), imports.name(EITHER));
            overloads.push((
                format!("{ty} {parameter}"),
                forward(format!("{either}.{make}({parameter})")),
            ));
        }
    }
    let member = |(parameters, body): (String, Body)| Member {
        doc: Doc::clone(&argument.doc),
        attributes: argument.attributes.clone(),
        kind: MemberKind::Method {
            signature: format!("public Builder {method}({parameters})"),
            body,
        },
    };
    overloads.into_iter().map(member).collect()
}
