//! The context of a conversion, and the converter of one file.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use hcl_edit::structure::Block;
use hcl_edit::{Span, expr::Expression};

use crate::circles::declaration;
use crate::module::{Many, Module, provider_of};
use crate::names::Declared;
use crate::notes::Note;
use crate::packages::{Kind, Packages, Sides};
use crate::program::modules_of;
use crate::repeated::unmarked;
use crate::scope::{Scope, Typed};
use crate::shape::Shape;
use crate::source::{Configuration, ModuleFile};
use crate::statements::REMOTE_STATE;
use crate::variable_type::VariableType;

/// Greatest number of locals and outputs that are followed one after the other to find the shape of a value.
const DEPTH: usize = 64;

/// A whole configuration, and the packages of its providers.
pub(crate) struct Context<'c> {
    pub(crate) configuration: &'c Configuration,
    pub(crate) packages: &'c Packages,
    pub(crate) modules: Vec<Module<'c>>,
    /// Types of resources and data sources, by the address of their block. Each reference asks for one, and a search may
    /// compare many types.
    pub(crate) kinds: RefCell<HashMap<usize, Kind>>,
    /// Shapes of locals and outputs, by the address of their expression; `None` while one is being found. Each may refer to
    /// many others.
    pub(crate) shapes: RefCell<HashMap<usize, Option<Shape>>>,
    /// Types of variables, by the address of their block.
    pub(crate) types: RefCell<HashMap<usize, VariableType>>,
}

impl<'c> Context<'c> {
    pub(crate) fn new(configuration: &'c Configuration, packages: &'c Packages) -> Self {
        Context {
            configuration,
            packages,
            modules: modules_of(configuration),
            kinds: RefCell::default(),
            shapes: RefCell::default(),
            types: RefCell::default(),
        }
    }
}

/// Converter of one file of a module.
pub(crate) struct Converter<'m, 'c> {
    pub(crate) context: &'m Context<'c>,
    pub(crate) module: &'m Module<'c>,
    pub(crate) file: &'m ModuleFile,
    /// Notes made since they were last taken.
    notes: RefCell<Vec<Note>>,
    depth: usize,
    /// The call of a module that is being converted.
    pub(crate) call: RefCell<Option<String>>,
    /// Whether a template file is being converted, whose places are in another file.
    is_elsewhere: Cell<bool>,
    at: Cell<usize>,
}

impl<'m, 'c> Converter<'m, 'c> {
    pub(crate) fn new(
        context: &'m Context<'c>,
        module: &'m Module<'c>,
        file: &'m ModuleFile,
    ) -> Self {
        Converter {
            context,
            module,
            file,
            notes: RefCell::default(),
            depth: 0,
            call: RefCell::default(),
            is_elsewhere: Cell::new(false),
            at: Cell::new(0),
        }
    }

    /// Takes the notes made so far.
    pub(crate) fn take_notes(&self) -> Vec<Note> {
        let mut notes = self.notes.take();
        notes.dedup();
        notes
    }

    /// Notes something about a node of the file.
    pub(crate) fn note(&self, node: &impl Span, text: impl Into<String>) {
        if !self.is_elsewhere.get()
            && let Some(span) = node.span()
        {
            self.at.set(span.start);
        }
        let offset = u32::try_from(self.at.get()).unwrap_or(u32::MAX);
        self.add(Note {
            file: self.file.source.name.clone(),
            line: self.file.source.position(offset).0,
            text: text.into(),
            original: Vec::new(),
        });
    }

    /// Notes that a node is left out. The program keeps it as a comment.
    pub(crate) fn left_out(&self, node: &impl Span, text: impl Into<String>) {
        self.note(node, text);
        let original = without_indent(&self.original(node));
        if let Some(last) = self.notes.borrow_mut().last_mut() {
            last.original = original;
        }
    }

    fn add(&self, note: Note) {
        let mut notes = self.notes.borrow_mut();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Converts something of another file, which `node` refers to.
    pub(crate) fn elsewhere<R>(&self, node: &impl Span, convert: impl FnOnce() -> R) -> R {
        if let Some(span) = node.span() {
            self.at.set(span.start);
        }
        let before = self.is_elsewhere.replace(true);
        let result = convert();
        self.is_elsewhere.set(before);
        result
    }

    /// The text of a node as it is written.
    pub(crate) fn original(&self, node: &impl Span) -> String {
        let text = node.span().filter(|_| !self.is_elsewhere.get());
        let text = text.and_then(|it| self.file.source.text.get(it));
        unmarked(text.unwrap_or_default().trim())
    }

    /// Notes something with the original, which stands behind the text if it is one line.
    pub(crate) fn note_of(&self, node: &impl Span, text: &str) {
        let original = self.original(node);
        let shown = if original.contains('\n') || original.is_empty() {
            String::new()
        } else {
            format!(": {original}")
        };
        self.note(node, format!("{text}{shown}"));
    }

    /// An expression that stands for one that cannot be converted.
    pub(crate) fn missing(&self, node: &impl Span, why: &str) -> Typed {
        self.note_of(node, why);
        let original = self.original(node);
        let words = if original.is_empty() { why } else { &original };
        let quoted = plumb_eval::hcl::quoted(words);
        Typed::unknown(format!("notImplemented({quoted})"))
    }

    /// The type of a resource or data source.
    pub(crate) fn kind_of(&self, block: &Block) -> Kind {
        let address = std::ptr::from_ref(block).addr();
        if let Some(kind) = self.context.kinds.borrow().get(&address) {
            return kind.clone();
        }
        let kind = self.find_kind(block);
        let mut kinds = self.context.kinds.borrow_mut();
        kinds.insert(address, kind.clone());
        kind
    }

    /// Whether the call of a module that is being converted cannot refer to this, because it needs the module.
    pub(crate) fn is_circle(&self, root: &str, path: &[&str]) -> bool {
        let call = self.call.borrow();
        let (Some(call), Some(needed)) = (&*call, declaration(root, path)) else {
            return false;
        };
        self.module.circles.contains(&(call.clone(), needed))
    }

    /// Whether a resource or data source is left out, because nothing is known of its type.
    pub(crate) fn is_left_out(&self, block: &Block) -> bool {
        let is_remote_state = block.labels[0].as_str() == REMOTE_STATE;
        let leaves_out = self.context.packages.leaves_out_unknown && !is_remote_state;
        leaves_out && self.kind_of(block).fields.is_none()
    }

    fn find_kind(&self, block: &Block) -> Kind {
        let kind = block.labels[0].as_str();
        let (provider, _) = provider_of(kind, &block.body);
        let attributes = block.body.attributes().map(|it| it.key.as_str());
        let blocks = block.body.blocks().map(|it| it.ident.as_str());
        let used: Vec<&str> = attributes.chain(blocks).collect();
        if block.ident.as_str() == "data" {
            self.context.packages.data_source(&provider, kind, &used)
        } else {
            self.context.packages.resource(&provider, kind, &used)
        }
    }

    /// The value of a resource or data source: one, or several.
    pub(crate) fn member(&self, declared: &Declared, block: &Block) -> Typed {
        let name = self.module.names.get(declared).unwrap_or_default();
        let sides: Option<Sides> = self.kind_of(block).fields;
        let one = sides.map_or(Shape::Guessed, |it| Shape::Object(it.outputs));
        let shape = match Many::of(&block.body) {
            Many::One => one,
            Many::Count => one.list_of(),
            Many::Each => one.map_of(),
        };
        Typed::new(name, shape)
    }

    /// The shape of an expression of a module.
    pub(crate) fn shape_of(&self, module: &'m Module<'c>, expression: &Expression) -> Shape {
        let Some(file) = module.source.files.first().filter(|_| self.depth < DEPTH) else {
            return Shape::Unknown;
        };
        let address = std::ptr::from_ref(expression).addr();
        if let Some(known) = self.context.shapes.borrow().get(&address) {
            // A value that refers to itself has no shape.
            return known.clone().unwrap_or_default();
        }
        self.context.shapes.borrow_mut().insert(address, None);
        let mut converter = Converter::new(self.context, module, file);
        converter.depth = self.depth + 1;
        converter.is_elsewhere.set(true);
        let shape = converter.convert(expression, &Scope::default()).shape;
        let mut shapes = self.context.shapes.borrow_mut();
        shapes.insert(address, Some(shape.clone()));
        shape
    }
}

/// The lines of a block or attribute that begins somewhere in its first line.
fn without_indent(text: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let rest = text.lines().skip(1).filter(|it| !it.trim().is_empty());
    let shared = rest.map(indent).min().unwrap_or_default();
    let lines = text.lines().enumerate().map(|(at, line)| match at {
        0 => line,
        _ => line.get(shared..).unwrap_or_default(),
    });
    lines.map(str::to_owned).collect()
}
