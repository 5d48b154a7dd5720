//! Virtual environments and their contents.

use plumb_plugin::language::{InstallRequest, PackRequest};
use plumb_plugin::{LanguageRuntime, OutputStream};

use crate::support::{World, sdk};

#[tokio::test]
async fn an_environment_is_made_and_packages_are_read_from_it() {
    let world = World::new().await;
    // A local distribution, so that nothing is downloaded.
    world.file(
        "pkg/setup.py",
        "from setuptools import setup\n\
         setup(name='pulumi-mycloud', version='1.2.0a1', packages=['pulumi_mycloud'],\n\
         package_data={'pulumi_mycloud': ['pulumi-plugin.json']})\n",
    );
    world.file("pkg/pulumi_mycloud/__init__.py", "");
    world.file(
        "pkg/pulumi_mycloud/pulumi-plugin.json",
        r#"{"resource": true, "name": "mycloud"}"#,
    );
    world.file("requirements.txt", "./pkg\n");
    let info = world.info(serde_json::json!({"virtualenv": "venv", "toolchain": "pip"}));
    let request = InstallRequest {
        info: info.clone(),
        is_terminal: false,
        use_language_version_tools: false,
        is_plugin: false,
    };
    let host = world.host();
    if let Err(error) = host.install_dependencies(request, world.sink()).await {
        eprintln!("SKIPPED: no package index within reach: {error}");
        return;
    }
    let printed = world.printed(OutputStream::Stdout);
    let steps = [
        "Installing dependencies...",
        "Creating virtual environment...",
        "Finished creating virtual environment",
        "Updating pip, setuptools, and wheel in virtual environment...",
        "Finished updating",
        "Installing dependencies in virtual environment...",
        "Finished installing dependencies",
        "Finished installing dependencies",
    ];
    let reported: Vec<_> = printed
        .iter()
        .map(String::as_str)
        .filter(|line| steps.contains(line))
        .collect();
    assert_eq!(reported, steps, "{printed:?}");

    let packages = host.required_packages(&info).await.unwrap().packages;
    let shown: Vec<_> = packages
        .iter()
        .map(|package| format!("{} {}", package.name, package.version.as_ref().unwrap()))
        .collect();
    assert_eq!(shown, ["mycloud 1.2.0-alpha.1"]);
    let direct = host.program_dependencies(&info, false).await.unwrap();
    assert_eq!(
        direct
            .iter()
            .map(|one| one.name.as_str())
            .collect::<Vec<_>>(),
        ["pulumi-mycloud"]
    );
    let about = host.about(&info).await.unwrap();
    assert!(
        about.version.starts_with("3.") && about.executable.ends_with("venv/bin/python"),
        "{about:?}"
    );
    assert_eq!(about.metadata["toolchain"], "Pip");
}

#[tokio::test]
async fn pip_is_added_to_an_environment_without_it() {
    let world = World::new().await;
    world.file("requirements.txt", "");
    let info = world.info(serde_json::json!({"virtualenv": "venv", "toolchain": "pip"}));
    let environment = info.program_directory.join("venv");
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&environment)
        .status();
    assert!(made.unwrap().success());
    let request = InstallRequest {
        info,
        is_terminal: false,
        use_language_version_tools: false,
        is_plugin: false,
    };
    // The rest of the installation needs a package index, which may be out of reach.
    let _ = world
        .host()
        .install_dependencies(request, world.sink())
        .await;
    assert!(environment.join("bin/pip").exists());
}

#[tokio::test]
async fn poetry_and_uv_get_a_project_file_and_make_their_environment() {
    for tool in ["uv", "poetry"] {
        let mut world = World::new().await;
        if which::which(tool).is_err() {
            eprintln!("SKIPPED: {tool} is not installed");
            continue;
        }
        world.environment.insert(
            "POETRY_CACHE_DIR".into(),
            world.root.path().join("poetry").into(),
        );
        world.file("requirements.txt", "# the only one\npulumi==3.259.0\n");
        world.file("__main__.py", "import pulumi\npulumi.export('a', 1)\n");
        let info = world.info(serde_json::json!({"toolchain": tool}));
        let request = InstallRequest {
            info: info.clone(),
            is_terminal: false,
            use_language_version_tools: false,
            is_plugin: false,
        };
        let host = world.host();
        if let Err(error) = host.install_dependencies(request, world.sink()).await {
            assert!(!error.to_string().contains("could not"), "{error}");
            eprintln!("SKIPPED: no package index within reach: {error}");
            continue;
        }
        assert!(!world.root.path().join("project/requirements.txt").exists());
        let all = host.program_dependencies(&info, true).await.unwrap();
        assert!(
            all.iter()
                .any(|one| one.name == "pulumi" && one.version == "3.259.0"),
            "{all:?}"
        );
        let mut run = world.run_request(std::path::Path::new("unused"));
        run.info = info;
        let outcome = host
            .run(run, tokio_util::sync::CancellationToken::new())
            .await
            .unwrap();
        assert_eq!(
            outcome,
            plumb_plugin::language::RunOutcome::Succeeded,
            "{tool}: {:?}",
            world.engine.errors()
        );
    }
}

#[tokio::test]
async fn the_sdk_alone_needs_no_packages() {
    let world = World::new().await;
    let Some(virtualenv) = sdk("3.259") else {
        return;
    };
    let info = world.info(serde_json::json!({"virtualenv": virtualenv}));
    let host = world.host();
    assert!(
        host.required_packages(&info)
            .await
            .unwrap()
            .packages
            .is_empty()
    );
    let all = host.program_dependencies(&info, true).await.unwrap();
    assert!(
        all.iter()
            .any(|one| one.name == "pulumi" && one.version == "3.259.0"),
        "{all:?}"
    );
    let direct = host.program_dependencies(&info, false).await.unwrap();
    assert!(
        direct.iter().all(|one| one.name != "protobuf"),
        "{direct:?}"
    );
}

#[tokio::test]
async fn a_plain_interpreter_is_asked_for_its_path() {
    let mut world = World::new().await;
    let Some(virtualenv) = sdk("3.259") else {
        return;
    };
    world.environment.insert(
        "PULUMI_PYTHON_CMD".into(),
        virtualenv.join("bin/python").into(),
    );
    world.file("extra/pulumi_near-1.0.0.dist-info/METADATA", "");
    world.environment.insert(
        "PYTHONPATH".into(),
        world.root.path().join("project/extra").into(),
    );
    let info = world.info(serde_json::json!({}));
    let packages = world
        .host()
        .required_packages(&info)
        .await
        .unwrap()
        .packages;
    assert_eq!(
        packages
            .iter()
            .map(|package| package.name.as_str())
            .collect::<Vec<_>>(),
        ["near"]
    );
}

#[tokio::test]
async fn a_library_is_packed_into_a_wheel() {
    let world = World::new().await;
    let project = world.file(
        "lib/pyproject.toml",
        "[project]\nname = \"pulumi_mycloud\"\nversion = \"1.2.0\"\n\
         [build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n",
    );
    world.file("lib/pulumi_mycloud/__init__.py", "");
    let host = world.host();
    let packed = host.pack(PackRequest {
        package_directory: project.parent().unwrap().to_owned(),
        destination_directory: world.root.path().join("packed"),
    });
    match packed.await {
        Ok(wheel) => {
            let name = "pulumi_mycloud-1.2.0-py3-none-any.whl";
            assert_eq!(wheel, world.root.path().join("packed").join(name));
            assert!(wheel.is_file());
        }
        Err(error) if error.to_string().contains("pip install") => {
            eprintln!("SKIPPED: no package index within reach: {error}");
        }
        Err(error) => panic!("{error}"),
    }
}
