//! A resource monitor with scripted replies, and the schemas of the test data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use plumb_deploy::request::{
    InvokeReply, Outcome, ReadResourceReply, RegisterReply, RegisterRequest, Reply, Request,
};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::{Program as _, ProgramContext, ProgramResult};
use plumb_events::Severity;
use plumb_resource::{PropertyDependencies, ResourceId, Urn};
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};
use plumb_value::PropertyMap;
use plumb_yaml::YamlProgram;
use tokio_util::sync::CancellationToken;

pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// Schemas from the test data, limited to allowed packages.
pub(crate) struct Schemas(pub(crate) &'static [&'static str]);

#[async_trait]
impl SchemaLoader for Schemas {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        if !self.0.contains(&query.name.as_str()) {
            return Ok(None);
        }
        let path = data().join(format!("data/schemas/{}.json", query.name));
        let text = std::fs::read_to_string(path).unwrap();
        Ok(Some(Arc::new(PackageSchema::parse(text).unwrap())))
    }
}

pub(crate) type Script = Box<dyn Fn(&Request) -> Option<Reply> + Send + Sync>;

/// Records its requests. Replies according to the script, or else with the inputs as outputs.
pub(crate) struct Monitor {
    pub(crate) requests: Mutex<Vec<Request>>,
    pub(crate) log: Mutex<Vec<(Severity, String)>>,
    script: Script,
    dry_run: bool,
}

#[async_trait]
impl ResourceMonitor for Monitor {
    async fn request(&self, request: Request) -> Reply {
        let reply = (self.script)(&request).unwrap_or_else(|| self.echo(&request));
        self.requests.lock().unwrap().push(request);
        tokio::task::yield_now().await;
        reply
    }

    fn log(&self, severity: Severity, _urn: Option<&Urn>, message: &str) {
        self.log
            .lock()
            .unwrap()
            .push((severity, message.to_owned()));
    }
}

pub(crate) fn urn(parent: Option<&Urn>, token: &str, name: &str) -> Urn {
    Urn::new(
        "dev",
        "proj",
        parent.map_or("", Urn::qualified_type),
        token,
        name,
    )
}

impl Monitor {
    fn id(&self, name: &str) -> ResourceId {
        if self.dry_run {
            ResourceId::Unknown
        } else {
            ResourceId::from_text(&format!("{name}-id"))
        }
    }

    fn echo(&self, request: &Request) -> Reply {
        match request {
            Request::Register(request) => Reply::Registered(RegisterReply {
                urn: urn(request.parent.as_ref(), &request.type_token, &request.name),
                id: if request.custom {
                    self.id(&request.name)
                } else {
                    ResourceId::None
                },
                outputs: Arc::new(request.properties.without_outputs()),
                property_dependencies: PropertyDependencies::new(),
                outcome: Outcome::Success,
                unknown: false,
            }),
            Request::Read(request) => Reply::Read(ReadResourceReply {
                urn: urn(request.parent.as_ref(), &request.type_token, &request.name),
                id: request.id.clone(),
                outputs: request.properties.clone(),
                outcome: Outcome::Success,
            }),
            Request::Invoke(request) => Reply::Invoked(InvokeReply {
                result: request.args.clone(),
                failures: Vec::new(),
                dependencies: PropertyDependencies::new(),
                unknown: false,
            }),
            Request::RegisterPackage(request) => {
                Reply::Package(format!("ref-{}", request.name).into())
            }
            Request::Await(_) => panic!("only snippets wait"),
            Request::RegisterOutputs(_) | Request::SignalAndWaitForShutdown => Reply::Done,
            Request::Call(_)
            | Request::RegisterHook(_)
            | Request::RegisterStackTransform(_)
            | Request::RegisterStackInvokeTransform(_)
            | Request::PublishViewSteps { .. } => {
                panic!("YAML programs neither call methods nor have functions")
            }
        }
    }
}

/// A program to run.
pub(crate) struct Case {
    pub(crate) directory: PathBuf,
    pub(crate) schemas: &'static [&'static str],
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) secret_keys: Vec<String>,
    pub(crate) dry_run: bool,
    pub(crate) script: Script,
    pub(crate) project: &'static str,
    temporary: Option<tempfile::TempDir>,
}

/// Result of a run.
pub(crate) struct Ran {
    pub(crate) result: ProgramResult,
    pub(crate) requests: Vec<Request>,
    pub(crate) log: Vec<(Severity, String)>,
}

impl Case {
    pub(crate) fn at(directory: &Path) -> Self {
        Case {
            directory: directory.to_owned(),
            schemas: &["lab", "random", "command"],
            config: BTreeMap::new(),
            secret_keys: Vec::new(),
            dry_run: false,
            script: Box::new(|_| None),
            project: "proj",
            temporary: None,
        }
    }

    pub(crate) fn of(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(
            directory.path().join("Pulumi.yaml"),
            format!("name: proj\nruntime: yaml\n{text}"),
        )
        .unwrap();
        Case {
            temporary: Some(directory),
            ..Case::at(Path::new(""))
        }
        .placed()
    }

    fn placed(mut self) -> Self {
        self.directory = self.temporary.as_ref().unwrap().path().to_owned();
        self
    }

    pub(crate) fn config(mut self, key: &str, value: &str) -> Self {
        self.config.insert(key.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn script(
        mut self,
        script: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        self.script = Box::new(script);
        self
    }

    pub(crate) fn run(self) -> Ran {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let monitor = Arc::new(Monitor {
            requests: Mutex::default(),
            log: Mutex::default(),
            script: self.script,
            dry_run: self.dry_run,
        });
        let info = ProgramContext {
            project: self.project.to_owned(),
            stack: "dev".to_owned(),
            organization: "organization".to_owned(),
            config: Arc::new(self.config),
            config_secret_keys: Arc::new(self.secret_keys),
            dry_run: self.dry_run,
            parallel: 8,
            resource_references: true,
            root_directory: self.directory.clone(),
            program_directory: self.directory.clone(),
            monitor_address: String::new(),
            engine_address: String::new(),
        };
        let program = YamlProgram::new(Arc::new(Schemas(self.schemas)));
        let result = runtime.block_on(program.run(info, monitor.clone(), CancellationToken::new()));
        let requests = std::mem::take(&mut *monitor.requests.lock().unwrap());
        let log = std::mem::take(&mut *monitor.log.lock().unwrap());
        Ran {
            result,
            requests,
            log,
        }
    }
}

impl Ran {
    pub(crate) fn finished(self) -> Self {
        assert_eq!(self.result, ProgramResult::Finished, "{:#?}", self.log);
        self
    }

    pub(crate) fn registrations(&self) -> impl Iterator<Item = &RegisterRequest> {
        self.requests.iter().filter_map(|request| match request {
            Request::Register(request) => Some(&**request),
            _ => None,
        })
    }

    pub(crate) fn registration(&self, name: &str) -> &RegisterRequest {
        self.registrations()
            .find(|request| request.name == name)
            .unwrap_or_else(|| panic!("{name} is not registered"))
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.registrations()
            .skip(1)
            .map(|request| request.name.as_str())
            .collect()
    }

    pub(crate) fn outputs(&self) -> &PropertyMap {
        let outputs = self.requests.iter().find_map(|request| match request {
            Request::RegisterOutputs(request) => Some(&*request.outputs),
            _ => None,
        });
        outputs.expect("outputs are registered")
    }

    pub(crate) fn messages(&self) -> Vec<&str> {
        self.log
            .iter()
            .map(|(_, message)| message.as_str())
            .collect()
    }
}
