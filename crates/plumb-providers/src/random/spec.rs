//! Resource types of the package, with their inputs and outputs.

use plumb_value::{PropertyMap, Value};

/// Resource type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Bytes,
    Id,
    Integer,
    Password,
    Pet,
    Shuffle,
    String,
    Uuid,
    Uuid4,
    Uuid7,
}

/// Type of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Bool,
    Text,
    TextList,
    TextMap,
}

/// Default of an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fallback {
    /// None: the input is required.
    Required,
    /// None: the input stays absent.
    Absent,
    Int(u32),
    Bool(bool),
    Text(&'static str),
    /// The value of another input, or else true: `number` is the old name of `numeric`.
    Twin(&'static str),
}

#[derive(Debug)]
pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) fallback: Fallback,
}

#[derive(Debug)]
pub(super) struct Computed {
    pub(super) name: &'static str,
    pub(super) secret: bool,
}

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) kind: Resource,
    pub(super) token: &'static str,
    pub(super) inputs: &'static [Input],
    pub(super) computed: &'static [Computed],
    /// Whether the id is also an output.
    pub(super) id_output: bool,
    /// Text of `__meta`.
    pub(super) meta: Option<&'static str>,
}

impl Spec {
    pub(super) fn input(&self, name: &str) -> Option<&'static Input> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// Properties that are inputs.
    pub(super) fn inputs_in(&self, outputs: &PropertyMap) -> PropertyMap {
        let is_input = |key: &str| self.input(key).is_some();
        outputs
            .iter()
            .filter(|(key, _)| is_input(key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }
}

impl Fallback {
    /// Default value; `None` for those that depend on other inputs.
    pub(super) fn value(self) -> Option<Value> {
        match self {
            Fallback::Required | Fallback::Absent => None,
            Fallback::Int(number) => Some(Value::Number(f64::from(number))),
            Fallback::Bool(value) => Some(Value::Bool(value)),
            Fallback::Text(text) => Some(Value::from(text)),
            Fallback::Twin(_) => Some(Value::Bool(true)),
        }
    }
}

/// Resource type with this token.
pub(super) fn find(token: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.token == token)
}

const fn input(name: &'static str, kind: Kind, fallback: Fallback) -> Input {
    Input {
        name,
        kind,
        fallback,
    }
}

const fn open(name: &'static str) -> Computed {
    Computed {
        name,
        secret: false,
    }
}

const fn secret(name: &'static str) -> Computed {
    Computed { name, secret: true }
}

const RESULT: [Computed; 1] = [open("result")];

const KEEPERS: Input = input("keepers", Kind::TextMap, Fallback::Absent);

const TEXT_INPUTS: [Input; 12] = [
    KEEPERS,
    input("length", Kind::Int, Fallback::Required),
    input("lower", Kind::Bool, Fallback::Bool(true)),
    input("minLower", Kind::Int, Fallback::Int(0)),
    input("minNumeric", Kind::Int, Fallback::Int(0)),
    input("minSpecial", Kind::Int, Fallback::Int(0)),
    input("minUpper", Kind::Int, Fallback::Int(0)),
    input("number", Kind::Bool, Fallback::Twin("numeric")),
    input("numeric", Kind::Bool, Fallback::Twin("number")),
    input("overrideSpecial", Kind::Text, Fallback::Absent),
    input("special", Kind::Bool, Fallback::Bool(true)),
    input("upper", Kind::Bool, Fallback::Bool(true)),
];

const fn uuid(kind: Resource, token: &'static str) -> Spec {
    Spec {
        kind,
        token,
        inputs: &[KEEPERS],
        computed: &RESULT,
        id_output: true,
        meta: None,
    }
}

static SPECS: [Spec; 10] = [
    Spec {
        kind: Resource::Bytes,
        token: "random:index/randomBytes:RandomBytes",
        inputs: &[KEEPERS, input("length", Kind::Int, Fallback::Required)],
        computed: &[secret("base64"), secret("hex")],
        id_output: false,
        meta: None,
    },
    Spec {
        kind: Resource::Id,
        token: "random:index/randomId:RandomId",
        inputs: &[
            input("byteLength", Kind::Int, Fallback::Required),
            KEEPERS,
            input("prefix", Kind::Text, Fallback::Absent),
        ],
        computed: &[open("b64Std"), open("b64Url"), open("dec"), open("hex")],
        id_output: true,
        meta: None,
    },
    Spec {
        kind: Resource::Integer,
        token: "random:index/randomInteger:RandomInteger",
        inputs: &[
            KEEPERS,
            input("max", Kind::Int, Fallback::Required),
            input("min", Kind::Int, Fallback::Required),
            input("seed", Kind::Text, Fallback::Absent),
        ],
        computed: &RESULT,
        id_output: true,
        meta: None,
    },
    Spec {
        kind: Resource::Password,
        token: "random:index/randomPassword:RandomPassword",
        inputs: &TEXT_INPUTS,
        computed: &[secret("bcryptHash"), secret("result")],
        id_output: true,
        meta: Some(r#"{"schema_version":"3"}"#),
    },
    Spec {
        kind: Resource::Pet,
        token: "random:index/randomPet:RandomPet",
        inputs: &[
            KEEPERS,
            input("length", Kind::Int, Fallback::Int(2)),
            input("prefix", Kind::Text, Fallback::Absent),
            input("separator", Kind::Text, Fallback::Text("-")),
        ],
        computed: &[],
        id_output: true,
        meta: None,
    },
    Spec {
        kind: Resource::Shuffle,
        token: "random:index/randomShuffle:RandomShuffle",
        inputs: &[
            input("inputs", Kind::TextList, Fallback::Required),
            KEEPERS,
            input("resultCount", Kind::Int, Fallback::Absent),
            input("seed", Kind::Text, Fallback::Absent),
        ],
        computed: &[open("results")],
        id_output: true,
        meta: None,
    },
    Spec {
        kind: Resource::String,
        token: "random:index/randomString:RandomString",
        inputs: &TEXT_INPUTS,
        computed: &RESULT,
        id_output: true,
        meta: Some(r#"{"schema_version":"2"}"#),
    },
    uuid(Resource::Uuid, "random:index/randomUuid:RandomUuid"),
    uuid(Resource::Uuid4, "random:index/randomUuid4:RandomUuid4"),
    uuid(Resource::Uuid7, "random:index/randomUuid7:RandomUuid7"),
];
