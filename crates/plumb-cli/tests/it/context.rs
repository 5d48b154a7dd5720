//! A project in a temporary folder, with its own home folder and environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// Folders and environment for the commands of a test.
pub(crate) struct TestContext {
    root: TempDir,
    variables: BTreeMap<String, String>,
}

/// Output and exit code of a command.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl TestContext {
    /// A context with an empty store and a project `proj` without a program.
    pub(crate) fn new() -> Self {
        let context = TestContext::without_project();
        context.write("Pulumi.yaml", "name: proj\nruntime: yaml\n");
        context
    }

    /// A context with only an empty store.
    pub(crate) fn without_project() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "project", "store"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let store = format!("file://{}", root.path().join("store").display());
        let variables = BTreeMap::from([("PULUMI_BACKEND_URL".to_owned(), store)]);
        TestContext { root, variables }
    }

    /// Adds a passphrase. Only for tests of secrets, because deriving a key takes time.
    pub(crate) fn with_passphrase(self) -> Self {
        self.with("PULUMI_CONFIG_PASSPHRASE", "test")
    }

    /// Adds a variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, Some(value));
        self
    }

    /// Sets or removes a variable.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.variables.insert(name.to_owned(), value.to_owned()),
            None => self.variables.remove(name),
        };
    }

    /// Folder that contains all others.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Folder of the project.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Folder of the store.
    pub(crate) fn store(&self) -> PathBuf {
        self.root.path().join("store")
    }

    /// Home folder of the user.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.project().join(name).exists()
    }

    /// Runs a command without a terminal.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, "")
    }

    /// Runs a command with `input` on standard input.
    pub(crate) fn run_with(&self, words: &[&str], input: &str) -> Ran {
        let output = self.command(words, input).output().unwrap();
        self.ran(&output)
    }

    /// Starts a command without waiting for it.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        let mut command = self.command(words, "");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Waits for a started command.
    pub(crate) fn ended(&self, command: Child) -> Ran {
        self.ran(&command.wait_with_output().unwrap())
    }

    /// A command with `input` on standard input, not started yet.
    pub(crate) fn command(&self, words: &[&str], input: &str) -> Command {
        let input_file = self.root.path().join("input");
        fs::write(&input_file, input).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_plumb"));
        command
            .args(words)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("USER", "tester")
            .env("PATH", "/usr/bin:/bin")
            .env("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true")
            .envs(repositories_at("file:///no/network/"))
            .envs(&self.variables)
            .stdin(Stdio::from(fs::File::open(&input_file).unwrap()));
        command
    }

    /// Output of a command, with the temporary folder replaced.
    pub(crate) fn ran(&self, output: &Output) -> Ran {
        Ran::of(output, self.root.path())
    }

    /// Runs a command that must succeed; returns its stdout.
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(ran.code, 0, "{words:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Runs a command that must fail with `code`; returns its stderr.
    pub(crate) fn fails(&self, code: i32, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(ran.code, code, "{words:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stderr
    }

    /// Imports a deployment with these resources into the selected stack.
    pub(crate) fn import(&self, resources: &serde_json::Value) {
        let deployment = serde_json::json!({
            "version": 3,
            "deployment": {
                "manifest": { "time": "2026-01-02T03:04:05Z", "magic": "", "version": "" },
                "resources": resources,
            },
        });
        self.write("deployment.json", &deployment.to_string());
        assert_eq!(
            self.ok(&["stack", "import", "--file", "deployment.json"]),
            "Import complete.\n"
        );
    }
}

impl Ran {
    fn of(output: &Output, root: &Path) -> Self {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            text.replace(&root.display().to_string(), "<root>")
        };
        Ran {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            code: output.status.code().unwrap(),
        }
    }
}

/// User of the test process; commands get a different name from their environment.
pub(crate) fn system_user() -> String {
    let id = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(id.stdout).unwrap().trim().to_owned()
}

/// Variables that make `git` look in `place` for repositories of GitHub.
pub(crate) fn repositories_at(place: &str) -> [(&'static str, String); 3] {
    [
        ("GIT_CONFIG_COUNT", "1".to_owned()),
        ("GIT_CONFIG_KEY_0", format!("url.{place}.insteadOf")),
        ("GIT_CONFIG_VALUE_0", "https://github.com/".to_owned()),
    ]
}
