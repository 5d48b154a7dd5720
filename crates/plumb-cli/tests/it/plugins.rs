//! `plugin` and the verbs below it.

use serde_json::Value;

use crate::context::TestContext;

#[test]
fn plugins_are_installed_listed_and_removed() {
    let context = TestContext::without_project();
    assert_eq!(
        context.ok(&["plugin", "ls"]),
        "NAME  KIND  VERSION  SIZE  INSTALLED  LAST USED\n\nTOTAL plugin cache size: 0 B\n"
    );
    context.write("bin", "#!/bin/sh\n");
    let installed = context.run(&[
        "plugin", "install", "resource", "lab", "v1.0.0", "--file", "bin",
    ]);
    assert_eq!(
        (installed.code, installed.stderr.as_str()),
        (0, "[resource plugin lab-1.0.0] installing\n")
    );
    let listed: Value = serde_json::from_str(&context.ok(&["plugin", "ls", "--json"])).unwrap();
    assert_eq!(
        (&listed[0]["name"], &listed[0]["version"]),
        (&"lab".into(), &"1.0.0".into())
    );
    assert_eq!(
        context.ok(&["plugin", "install", "resource", "lab", "1.0.0"]),
        ""
    );
    // A program that names no version takes the installed one, without a question for the newest.
    context.write(
        "Pulumi.yaml",
        "name: shop\nruntime: yaml\nresources: {a: {type: \"lab:Thing\"}}\n",
    );
    for command in [&["plugin", "install"][..], &["install"]] {
        assert_eq!(context.ok(command), "", "{command:?}");
    }
    assert_eq!(
        context.fails(1, &["plugin", "rm"]),
        "error: please pass --all if you'd like to remove all plugins\n"
    );
    assert_eq!(
        context.ok(&["plugin", "rm", "resource", "lab", "1.0.0", "--yes"]),
        "removed: resource lab-1.0.0\n"
    );
    assert_eq!(context.ok(&["plugin", "ls", "--json"]), "[]\n");
}

#[test]
fn what_cannot_be_installed_is_explained() {
    let context = TestContext::without_project();
    assert!(
        context
            .fails(
                1,
                &[
                    "plugin", "install", "resource", "aws", "6.0.0", "--server", "ftp://x"
                ]
            )
            .contains("cannot be downloaded from ftp://x")
    );
    assert!(
        context
            .fails(1, &["plugin", "install", "language", "python", "1.0.0"])
            .contains("is bundled")
    );
    assert_eq!(
        context.fails(1, &["plugin", "install", "thing", "x"]),
        "error: unrecognized plugin kind: thing\n"
    );
}
