//! Nested objects: `pulumiTypes.go` of each module (`codegen.md` 4.4).

use plumb_schema::bound::{Object, TypeShape};

use super::forms::{Collection, Declarations};
use super::model::{Body, Doc, SourceFile, Struct};
use super::properties::{Entry, Fields, Holder};
use super::resource::value_of;
use super::sdk::Sdk;
use super::usage::{Forms, Usage};
use super::values::{Content, append};
use crate::GenerateError;

/// Maximum number of objects per file.
pub(super) const PER_FILE: usize = 500;

impl<'p, 'd> Sdk<'p, 'd> {
    /// File with a chunk of a module's objects.
    pub(super) fn objects_file(
        &self,
        module: &str,
        positions: &[usize],
        number: usize,
    ) -> Result<SourceFile, GenerateError> {
        let mut file = Declarations::new(self.imports(module), &self.settings);
        for &position in positions {
            if let TypeShape::Object(object) = &self.package.types[position].shape {
                self.object(position, object, &mut file);
            }
        }
        let name = match number {
            0 => "pulumiTypes.go".to_owned(),
            number => format!("pulumiTypes{number}.go"),
        };
        Ok(file.file(self.path(module, &name)?, self.layout.package_of(module)))
    }

    fn object(&self, position: usize, object: &'p Object<'d>, file: &mut Declarations<'_>) {
        let name = &self.naming.types[position];
        let usage = &self.usages.types[position];
        let is_required =
            |property: &plumb_schema::bound::Property<'d>| self.is_required(position, property);
        let entries = self.entries(name, &object.properties, is_required);
        let doc = self.doc(object.description, None);
        let fields = self.fields(&entries, Fields::Value, true, file);
        file.structure(Struct {
            doc: doc.clone(),
            name: name.clone(),
            base: None,
            fields,
        });
        if self.has_defaults[position] {
            self.defaults_method(name, &entries, Content::Values, file);
        }
        if self.is_generic() {
            return self.generic_object(position, &doc, &entries, file);
        }
        if usage.value.input {
            self.object_input(
                name,
                &doc,
                &entries,
                self.has_defaults[position],
                usage,
                file,
            );
        }
        if usage.pointer.input {
            pointer_input(name, file);
        }
        let module = self.module_of(self.package.types[position].token);
        let collections = self.collections(&module, name, usage);
        for (ending, _) in collections.iter().filter(|(_, forms)| forms.input) {
            collection_input(name, ending, &format!("{name}Input"), file);
        }
        if usage.value.output {
            file.output(doc, name, name);
            if usage.pointer.input {
                file.pointer_conversions(name);
            }
            self.accessors(name, Holder::Value, &entries, file);
        }
        if usage.pointer.output {
            file.pointer_output(name);
            self.accessors(name, Holder::Pointer, &entries, file);
        }
        for (ending, _) in collections.iter().filter(|(_, forms)| forms.output) {
            collection_output(name, ending, file);
        }
    }

    fn object_input(
        &self,
        name: &str,
        doc: &Doc,
        entries: &[Entry<'_, '_>],
        has_defaults: bool,
        usage: &Usage,
        file: &mut Declarations<'_>,
    ) {
        let args = format!("{name}Args");
        let about = Doc::of([
            format!("{name}Input is an input type that accepts {args} and {name}Output values."),
            "A value of it is made like this:".to_owned(),
            String::new(),
            format!("\t{args}{{...}}"),
        ]);
        file.input_interface(about, name, "");
        let fields = self.fields(entries, Fields::Input, true, file);
        file.structure(Struct {
            doc: doc.clone(),
            name: args.clone(),
            base: None,
            fields,
        });
        if has_defaults {
            self.defaults_method(&args, entries, Content::Inputs, file);
        }
        file.element_type(&args, name);
        file.conversions(&args, name, name);
        if usage.pointer.input {
            file.returns(
                format!("func (i {args}) To{name}PtrOutput() {name}PtrOutput"),
                format!("i.To{name}PtrOutputWithContext(context.Background())"),
            );
            file.returns(
                format!("func (i {args}) To{name}PtrOutputWithContext(ctx context.Context) {name}PtrOutput"),
                format!(
                    "pulumi.ToOutputWithContext(ctx, i).({name}Output).To{name}PtrOutputWithContext(ctx)"
                ),
            );
        }
        file.register_input(name, &format!("{args}{{}}"));
    }

    /// Method that returns a copy with defaults filled in.
    pub(super) fn defaults_method(
        &self,
        name: &str,
        entries: &[Entry<'_, '_>],
        content: Content,
        file: &mut Declarations<'_>,
    ) {
        let mut body = Body::default();
        body.block("if val == nil {", "}", |body| body.line("return nil"));
        body.line("tmp := *val");
        let completion = self.completion("tmp", entries, content, false, file);
        append(&mut body, completion);
        body.line("return &tmp");
        let doc = Doc::of([format!("Defaults sets the appropriate defaults for {name}")]);
        file.function(doc, format!("func (val *{name}) Defaults() *{name}"), body);
    }

    /// Collections of `name`, by suffix. Includes the inner collections of each, because its
    /// declaration refers to them.
    pub(super) fn collections(
        &self,
        module: &str,
        name: &str,
        usage: &Usage,
    ) -> Vec<(String, Forms)> {
        let mut collections = usage.collections.clone();
        for (ending, forms) in &usage.collections {
            let steps = ending
                .char_indices()
                .filter(|(at, char)| *at > 0 && char.is_uppercase());
            for (at, _) in steps {
                let inner = collections.entry(ending[..at].to_owned()).or_default();
                inner.input |= forms.input;
                inner.output |= forms.output;
            }
        }
        // A collection is omitted if another declaration has its name.
        let is_free = |ending: &String| !self.naming.is_taken(module, &format!("{name}{ending}"));
        collections
            .into_iter()
            .filter(|(ending, _)| is_free(ending))
            .collect()
    }
}

/// Collection of `name` as an input; `element` is the element type of the innermost collection.
pub(super) fn collection_input(
    name: &str,
    ending: &str,
    element: &str,
    file: &mut Declarations<'_>,
) {
    let kind = Collection::of(ending);
    let inner = ending.strip_suffix(kind.name()).unwrap_or_default();
    let element = if inner.is_empty() {
        element.to_owned()
    } else {
        format!("{name}{inner}Input")
    };
    file.collection_input(
        kind,
        &format!("{name}{ending}"),
        &element,
        &value_of(name, ending),
    );
}

pub(super) fn collection_output(name: &str, ending: &str, file: &mut Declarations<'_>) {
    let kind = Collection::of(ending);
    let inner = ending.strip_suffix(kind.name()).unwrap_or_default();
    let element = format!("{name}{inner}");
    file.collection_output(
        kind,
        &format!("{name}{ending}"),
        &element,
        &value_of(name, inner),
    );
}

fn pointer_input(name: &str, file: &mut Declarations<'_>) {
    let (args, pointer) = (format!("{name}Args"), format!("{name}Ptr"));
    let hidden = format!("{}PtrType", super::names::hidden(name));
    let doc = Doc::of([
        format!(
            "{pointer}Input is an input type that accepts {args}, {pointer} and {pointer}Output values."
        ),
        "A value of it is made like this, or is nil:".to_owned(),
        String::new(),
        format!("\t{args}{{...}}"),
    ]);
    file.input_interface(doc, &pointer, "");
    file.line(Doc::default(), format!("type {hidden} {args}"));
    file.returns(
        format!("func {pointer}(v *{args}) {pointer}Input"),
        format!("(*{hidden})(v)"),
    );
    file.element_type(&format!("*{hidden}"), &format!("*{name}"));
    file.conversions(&format!("*{hidden}"), &pointer, &format!("*{name}"));
    file.register_input(&pointer, &format!("{args}{{}}"));
}
