//! Tests of providers, in the process and without an engine.
//!
//! A [`Tester`] does with one provider what the engine would do: it checks, compares, previews, and then creates, updates
//! or replaces. What a preview foretold has to come true.
//!
//! ```
//! use plumb_provider::prelude::*;
//! use plumb_provider::testing::{Step, Tester};
//!
//! # #[derive(Clone, Debug, Properties)]
//! # struct NoteArgs { text: String }
//! # #[derive(Clone, Debug, Properties)]
//! # struct NoteState { #[property(flatten)] args: NoteArgs, letters: i64 }
//! # struct Note;
//! # #[plumb_provider::resource]
//! # impl Resource for Note {
//! #     type Args = NoteArgs;
//! #     type State = NoteState;
//! #     async fn create(cx: &Cx, args: NoteArgs) -> Result<Created<NoteState>> {
//! #         let letters = i64::try_from(args.text.len())?;
//! #         Ok(Created::new(cx.name(), NoteState { args, letters }))
//! #     }
//! # }
//! fn main() -> Result<()> {
//!     let tester = Tester::new(Provider::new("notes", "0.1.0").resource::<Note>())?;
//!     let mut note = tester.resource("index:Note", "greeting");
//!     assert_eq!(note.apply(value!({ "text": "Hello" }))?, Step::Created);
//!     assert_eq!(note.output("letters"), &Value::Number(5.0));
//!     assert_eq!(note.apply(value!({ "text": "Hello" }))?, Step::Same);
//!     assert_eq!(note.apply(value!({ "text": "Bye" }))?, Step::Replaced);
//!     note.delete()
//! }
//! ```

use plumb::provider::{Members, decode, encode};
use prost::Message as _;
use prost_types::Struct;
use tokio::runtime::Runtime;
use tonic::Status;

use crate::protocol as pb;
use crate::service::{RichStatus, Service};
use crate::values::exposed;
use crate::{Error, Parameter, Provider, Result, Value};

const PROJECT: &str = "urn:pulumi:stack::project";

/// A provider under test.
///
/// Its functions block: call them from a plain `#[test]`, not from an asynchronous one. Variables of the environment are
/// not read.
///
/// ```
/// # use plumb_provider::prelude::*;
/// # #[derive(Clone, Debug, Properties)]
/// # struct Args { text: String, size: Option<i64> }
/// # struct Note;
/// # #[plumb_provider::resource]
/// # impl Resource for Note {
/// #     type Args = Args;
/// #     type State = Args;
/// #     async fn create(_: &Cx, args: Args) -> Result<Created<Args>> { Ok(Created::new("1", args)) }
/// # }
/// # use plumb_provider::testing::{Step, Tester};
/// let tester = Tester::new(Provider::new("notes", "1.0.0").resource::<Note>())?;
/// let mut note = tester.resource("index:Note", "greeting");
/// assert_eq!(note.apply(value!({ "text": "Hello" }))?, Step::Created);
/// assert_eq!(note.apply(value!({ "text": "Hello" }))?, Step::Same);
/// note.delete()?;
/// # Ok::<_, plumb_provider::Error>(())
/// ```
#[derive(Debug)]
pub struct Tester {
    service: Service,
    runtime: Runtime,
}

/// What was done with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was created.
    Created,
    /// Nothing had to be done.
    Same,
    /// It was updated.
    Updated,
    /// Another one was created, and the old one deleted.
    Replaced,
}

impl Tester {
    /// A provider that nobody has configured.
    pub fn new(provider: Provider) -> Result<Self> {
        provider.schema()?;
        Ok(Tester {
            service: Service::new(provider, |_| None),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?,
        })
    }

    /// Configures the provider.
    pub fn configure(&self, config: Value) -> Result<()> {
        let request = pb::CheckRequest {
            news: Some(object(config)?),
            ..pb::CheckRequest::default()
        };
        let checked = self
            .service
            .check_config(request)
            .map_err(|it| error(&it))?;
        refuse(&checked.failures)?;
        let request = pb::ConfigureRequest {
            args: checked.inputs,
            ..pb::ConfigureRequest::default()
        };
        self.service.configure(request).map_err(|it| error(&it))?;
        Ok(())
    }

    /// Makes another package of the provider; tokens are those of the package from then on. Returns its name and version.
    pub fn parameterize(&self, parameter: Parameter) -> Result<(String, String)> {
        use pb::parameterize_request::{Parameters, ParametersArgs, ParametersValue};
        let parameters = match parameter {
            Parameter::Args(args) => Parameters::Args(ParametersArgs { args }),
            Parameter::Value {
                name,
                version,
                value,
            } => Parameters::Value(ParametersValue {
                name,
                version,
                value,
            }),
        };
        let request = pb::ParameterizeRequest {
            parameters: Some(parameters),
        };
        let answer = self.runtime.block_on(self.service.parameterize(request));
        let answer = answer.map_err(|it| error(&it))?;
        Ok((answer.name, answer.version))
    }

    /// The schema as an engine gets it: that of the package, if there is a parameter.
    pub fn schema(&self) -> Result<String> {
        self.service.package_schema().map_err(|it| error(&it))
    }

    /// Calls a function; `token` may leave out the name of the package.
    pub fn invoke(&self, token: &str, args: Value) -> Result<Members> {
        let request = pb::InvokeRequest {
            tok: self.service.full(token),
            args: Some(object(args)?),
            preview: false,
        };
        let response = self.runtime.block_on(self.service.invoke(request));
        let response = response.map_err(|it| error(&it))?;
        refuse(&response.failures)?;
        decode(response.r#return)
    }

    /// The resources of a type that exist: IDs and names, those of all pages; `token` may leave out the name of the package.
    pub fn list(&self, token: &str, query: Value) -> Result<Vec<(String, String)>> {
        use pb::list_response::Response;
        let mut request = pb::ListRequest {
            token: self.service.full(token),
            query: Some(object(query)?),
            ..pb::ListRequest::default()
        };
        let mut listed = Vec::new();
        loop {
            let responses = self.runtime.block_on(self.service.list(request.clone()));
            request.continuation_token.clear();
            for response in responses.map_err(|it| error(&it))? {
                match response.response {
                    Some(Response::Result(found)) => listed.push((found.id, found.name)),
                    Some(Response::Continuation(it)) => {
                        request.continuation_token = it.continuation_token;
                    }
                    Some(Response::Computed(_)) | None => {}
                }
            }
            if request.continuation_token.is_empty() {
                return Ok(listed);
            }
        }
    }

    /// A resource that does not exist yet; `token` may leave out the name of the package.
    pub fn resource(&self, token: &str, name: &str) -> Tested<'_> {
        let token = self.service.full(token);
        Tested {
            tester: self,
            urn: format!("{PROJECT}::{token}::{name}"),
            token,
            id: None,
            inputs: Members::new(),
            state: Members::new(),
        }
    }
}

/// A resource under test.
///
/// ```
/// # use plumb_provider::prelude::*;
/// # #[derive(Clone, Debug, Properties)]
/// # struct Args { text: String, size: Option<i64> }
/// # struct Note;
/// # #[plumb_provider::resource]
/// # impl Resource for Note {
/// #     type Args = Args;
/// #     type State = Args;
/// #     async fn create(_: &Cx, args: Args) -> Result<Created<Args>> { Ok(Created::new("1", args)) }
/// # }
/// # use plumb_provider::testing::Tester;
/// let tester = Tester::new(Provider::new("notes", "1.0.0").resource::<Note>())?;
/// let note = tester.resource("index:Note", "greeting");
/// let failures = note.failures(value!({ "size": "large" }))?;
/// assert_eq!(failures[0].0, "text");
/// # Ok::<_, plumb_provider::Error>(())
/// ```
#[derive(Debug)]
pub struct Tested<'a> {
    tester: &'a Tester,
    urn: String,
    token: String,
    id: Option<String>,
    inputs: Members,
    state: Members,
}

impl Tested<'_> {
    /// Takes over a resource as another version of the provider has recorded it.
    pub fn recorded(&mut self, id: &str, inputs: Value, outputs: Value) -> Result<()> {
        self.id = Some(id.to_owned());
        self.inputs = decode(Some(object(inputs)?))?;
        self.state = decode(Some(object(outputs)?))?;
        Ok(())
    }

    /// The ID, if the resource exists.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// An output, with its markers; null if it is not there.
    pub fn output(&self, name: &str) -> &Value {
        self.state.get(name).unwrap_or(&Value::Null)
    }

    /// An input after its check, with its markers; null if it is not there.
    pub fn input(&self, name: &str) -> &Value {
        self.inputs.get(name).unwrap_or(&Value::Null)
    }

    /// What is wrong with these inputs: properties and reasons.
    pub fn failures(&self, inputs: Value) -> Result<Vec<(String, String)>> {
        let response = self.check(inputs)?;
        let failures = response.failures.into_iter();
        Ok(failures.map(|it| (it.property, it.reason)).collect())
    }

    /// What a preview says that the outputs will be.
    pub fn preview(&self, inputs: Value) -> Result<Members> {
        let inputs = self.checked(inputs)?;
        if self.id.is_none() {
            return self.foretell_creation(&inputs);
        }
        self.foretell_update(&inputs)
    }

    /// Gives the resource these inputs, as a deployment would.
    pub fn apply(&mut self, inputs: Value) -> Result<Step> {
        let inputs = self.checked(inputs)?;
        let Some(id) = self.id.clone() else {
            self.create(&inputs)?;
            return Ok(Step::Created);
        };
        let diff = self.diff(&id, &inputs)?;
        if diff.changes() != pb::diff_response::DiffChanges::DiffSome {
            self.inputs = inputs;
            return Ok(Step::Same);
        }
        if diff.replaces.is_empty() {
            self.update(&id, &inputs)?;
            return Ok(Step::Updated);
        }
        if diff.delete_before_replace {
            self.delete()?;
            self.create(&inputs)?;
            return Ok(Step::Replaced);
        }
        let (old_inputs, old_state) = (self.inputs.clone(), self.state.clone());
        self.create(&inputs)?;
        self.remove(id, &old_inputs, &old_state)?;
        Ok(Step::Replaced)
    }

    /// Looks how the resource is; the answer is whether it still exists.
    pub fn refresh(&mut self) -> Result<bool> {
        let Some(id) = self.id.clone() else {
            return Ok(false);
        };
        self.read(id)
    }

    /// Takes over an existing resource; the answer is whether it exists.
    pub fn import(&mut self, id: &str) -> Result<bool> {
        self.inputs.clear();
        self.state.clear();
        self.read(id.to_owned())
    }

    /// Deletes the resource, if it exists.
    pub fn delete(&mut self) -> Result<()> {
        let Some(id) = self.id.take() else {
            return Ok(());
        };
        let (inputs, state) = (
            std::mem::take(&mut self.inputs),
            std::mem::take(&mut self.state),
        );
        self.remove(id, &inputs, &state)
    }

    fn check(&self, inputs: Value) -> Result<pb::CheckResponse> {
        let request = pb::CheckRequest {
            urn: self.urn.clone(),
            r#type: self.token.clone(),
            olds: Some(encode(&self.inputs)?),
            news: Some(object(inputs)?),
            random_seed: self.urn.clone().into_bytes(),
            ..pb::CheckRequest::default()
        };
        let response = self.block(self.tester.service.check(request));
        response.map_err(|it| error(&it))
    }

    fn checked(&self, inputs: Value) -> Result<Members> {
        let response = self.check(inputs)?;
        refuse(&response.failures)?;
        decode(response.inputs)
    }

    fn diff(&self, id: &str, inputs: &Members) -> Result<pb::DiffResponse> {
        let request = pb::DiffRequest {
            id: id.to_owned(),
            urn: self.urn.clone(),
            r#type: self.token.clone(),
            olds: Some(encode(&self.state)?),
            old_inputs: Some(encode(&self.inputs)?),
            news: Some(encode(inputs)?),
            ..pb::DiffRequest::default()
        };
        let response = self.block(self.tester.service.diff(request));
        response.map_err(|it| error(&it))
    }

    fn creation(&self, inputs: &Members, preview: bool) -> Result<pb::CreateRequest> {
        Ok(pb::CreateRequest {
            urn: self.urn.clone(),
            r#type: self.token.clone(),
            properties: Some(encode(inputs)?),
            preview,
            ..pb::CreateRequest::default()
        })
    }

    fn foretell_creation(&self, inputs: &Members) -> Result<Members> {
        let request = self.creation(inputs, true)?;
        let response = self.block(self.tester.service.create(request));
        decode(response.map_err(|it| error(&it))?.properties)
    }

    fn create(&mut self, inputs: &Members) -> Result<()> {
        let foretold = self.foretell_creation(inputs)?;
        let request = self.creation(inputs, false)?;
        let response = self.block(self.tester.service.create(request));
        let response = response.map_err(|status| self.keep(&status))?;
        self.id = Some(response.id);
        self.inputs.clone_from(inputs);
        self.state = decode(response.properties)?;
        self.compare(&foretold)
    }

    fn change(&self, id: &str, inputs: &Members, preview: bool) -> Result<pb::UpdateRequest> {
        Ok(pb::UpdateRequest {
            id: id.to_owned(),
            urn: self.urn.clone(),
            r#type: self.token.clone(),
            olds: Some(encode(&self.state)?),
            old_inputs: Some(encode(&self.inputs)?),
            news: Some(encode(inputs)?),
            preview,
            ..pb::UpdateRequest::default()
        })
    }

    fn foretell_update(&self, inputs: &Members) -> Result<Members> {
        let request = self.change(self.id.as_deref().unwrap_or_default(), inputs, true)?;
        let response = self.block(self.tester.service.update(request));
        decode(response.map_err(|it| error(&it))?.properties)
    }

    fn update(&mut self, id: &str, inputs: &Members) -> Result<()> {
        let foretold = self.foretell_update(inputs)?;
        let request = self.change(id, inputs, false)?;
        let response = self.block(self.tester.service.update(request));
        let response = response.map_err(|status| self.keep(&status))?;
        self.inputs.clone_from(inputs);
        self.state = decode(response.properties)?;
        self.compare(&foretold)
    }

    fn read(&mut self, id: String) -> Result<bool> {
        let request = pb::ReadRequest {
            id,
            urn: self.urn.clone(),
            r#type: self.token.clone(),
            properties: Some(encode(&self.state)?),
            inputs: Some(encode(&self.inputs)?),
            ..pb::ReadRequest::default()
        };
        let response = self.block(self.tester.service.read(request));
        let response = response.map_err(|status| self.keep(&status))?;
        if response.id.is_empty() {
            self.id = None;
            return Ok(false);
        }
        self.id = Some(response.id);
        self.inputs = decode(response.inputs)?;
        self.state = decode(response.properties)?;
        Ok(true)
    }

    fn remove(&self, id: String, inputs: &Members, state: &Members) -> Result<()> {
        let request = pb::DeleteRequest {
            id,
            urn: self.urn.clone(),
            r#type: self.token.clone(),
            properties: Some(encode(state)?),
            old_inputs: Some(encode(inputs)?),
            ..pb::DeleteRequest::default()
        };
        let response = self.block(self.tester.service.delete(request));
        response.map_err(|it| error(&it))
    }

    fn block<T>(&self, call: impl Future<Output = T>) -> T {
        self.tester.runtime.block_on(call)
    }

    /// What a preview knew has to be what came out.
    fn compare(&self, foretold: &Members) -> Result<()> {
        for (name, value) in foretold {
            let (foretold, is) = (exposed(value), exposed(self.output(name)));
            if !foretold.contains_unknown() && foretold != is {
                plumb::bail!(
                    "the preview said that the output `{name}` would be {foretold:?}, but it is {is:?}"
                );
            }
        }
        Ok(())
    }

    /// Keeps the state that a failure carries.
    fn keep(&mut self, status: &Status) -> Error {
        let rich = RichStatus::decode(status.details()).unwrap_or_default();
        let detail = rich.details.first();
        let detail = detail.map(|it| pb::ErrorResourceInitFailed::decode(it.value.as_slice()));
        if let Some(Ok(partial)) = detail {
            self.id = Some(partial.id);
            self.inputs = decode(partial.inputs).unwrap_or_default();
            self.state = decode(partial.properties).unwrap_or_default();
        }
        error(status)
    }
}

fn error(status: &Status) -> Error {
    Error::new(status.message())
}

fn object(value: Value) -> Result<Struct> {
    match value {
        Value::Map(members) => encode(&members),
        other => Err(Error::new(format!(
            "expected an object, found {}",
            other.kind()
        ))),
    }
}

fn refuse(failures: &[pb::CheckFailure]) -> Result<()> {
    let failures: Vec<_> = failures
        .iter()
        .map(|it| format!("{}: {}", it.property, it.reason))
        .collect();
    if failures.is_empty() {
        return Ok(());
    }
    Err(Error::new(failures.join("; ")))
}
