//! Provisioners, which become commands that run behind their resource.

use hcl_edit::structure::{Block, Body};
use plumb_eval::hcl;

use crate::convert::Converter;
use crate::scope::{Meaning, Scope};
use crate::text::{Entry, Statement, head};

impl Converter<'_, '_> {
    /// The commands of a resource, which is called `own`.
    pub(crate) fn provisioners(&self, own: &str, resource: &Block, scope: &Scope) -> String {
        let Some(Meaning::Itself(itself)) = scope.get("self") else {
            return String::new();
        };
        let (_, range) = self.range(&resource.body, &Scope::default());
        // The index of one of several resources is that of its commands.
        let index = itself.text.strip_prefix(own).unwrap_or_default();
        let mut previous = itself.text.clone();
        let mut out = String::new();
        for (at, block) in resource.body.get_blocks("provisioner").enumerate() {
            let name = format!("{own}Provisioner{at}");
            let Some(mut statement) = self.provisioner(&name, block, resource, scope) else {
                continue;
            };
            statement.options.extend(range.clone());
            let depends = Entry::new("dependsOn", format!("[{previous}]"));
            statement.options.push(depends);
            // A provisioner runs once for each resource that is created.
            let triggers = Entry::new("triggers", format!("[{}.id]", itself.text));
            statement.entries.push(triggers);
            previous = format!("{name}{index}");
            out.push('\n');
            out.push_str(&statement.print());
        }
        out
    }

    fn provisioner(
        &self,
        name: &str,
        block: &Block,
        resource: &Block,
        scope: &Scope,
    ) -> Option<Statement> {
        let body = &block.body;
        let kind = block.labels.first().map_or("", |it| it.as_str());
        let (token, entries) = match kind {
            "local-exec" => ("command:local:Command", self.local_command(body, scope)),
            "remote-exec" => {
                let mut entries = self.connection(block, resource, scope);
                entries.push(Entry::new("create", self.remote_command(block, scope)));
                ("command:remote:Command", entries)
            }
            "file" => {
                let mut entries = self.connection(block, resource, scope);
                let text = |name: &str| Some(self.text(&body.get_attribute(name)?.value, scope));
                let source = match (text("content"), text("source")) {
                    (Some(content), _) => format!("stringAsset({content})"),
                    (None, source) => format!("fileAsset({})", source.unwrap_or_default()),
                };
                entries.push(Entry::new("source", source));
                entries.push(Entry::new(
                    "remotePath",
                    text("destination").unwrap_or_default(),
                ));
                ("command:remote:CopyToRemote", entries)
            }
            _ => {
                self.left_out(
                    block,
                    format!("provisioners of the kind {kind:?} are not converted"),
                );
                return None;
            }
        };
        if let Some(attribute) = body.get_attribute("on_failure") {
            self.note(attribute, "a command that fails makes the update fail");
        }
        Some(Statement {
            head: head("resource", name, token),
            entries,
            options: Vec::new(),
        })
    }

    fn local_command(&self, body: &Body, scope: &Scope) -> Vec<Entry> {
        let is_for_destroy = body
            .get_attribute("when")
            .is_some_and(|it| crate::module::address(&it.value) == "destroy");
        let mut entries = Vec::new();
        for attribute in body.attributes() {
            let key = match attribute.key.as_str() {
                "command" if is_for_destroy => "delete",
                "command" => "create",
                "interpreter" => "interpreter",
                "environment" => "environment",
                "working_dir" => "dir",
                "when" | "on_failure" | "quiet" => continue,
                _ => {
                    self.left_out(attribute, "this setting of a provisioner is not converted");
                    continue;
                }
            };
            entries.push(Entry::new(key, self.text(&attribute.value, scope)));
        }
        entries
    }

    fn remote_command(&self, block: &Block, scope: &Scope) -> String {
        let text = |name: &str| Some(self.text(&block.body.get_attribute(name)?.value, scope));
        if let Some(lines) = text("inline") {
            return format!("join(\"\\n\", {lines})");
        }
        if let Some(script) = text("script") {
            return format!("readFile({script})");
        }
        if let Some(scripts) = text("scripts") {
            return format!("join(\"\\n\", [for script in {scripts} : readFile(script)])");
        }
        self.missing(block, "this provisioner has no command").text
    }

    /// The connection of a provisioner, or that of its resource.
    fn connection(&self, block: &Block, resource: &Block, scope: &Scope) -> Vec<Entry> {
        let own = block.body.get_blocks("connection").next();
        let Some(connection) = own.or_else(|| resource.body.get_blocks("connection").next()) else {
            self.note(block, "this provisioner has no connection");
            return Vec::new();
        };
        let mut entries = Vec::new();
        let mut proxy = Vec::new();
        for attribute in connection.body.attributes() {
            let value = || self.text(&attribute.value, scope);
            match attribute.key.as_str() {
                key @ ("host" | "user" | "password" | "port") => {
                    entries.push((key.to_owned(), value()));
                }
                "private_key" => entries.push(("privateKey".to_owned(), value())),
                "bastion_host" => proxy.push(("host".to_owned(), value())),
                "bastion_user" => proxy.push(("user".to_owned(), value())),
                "bastion_password" => proxy.push(("password".to_owned(), value())),
                "bastion_port" => proxy.push(("port".to_owned(), value())),
                "bastion_private_key" => proxy.push(("privateKey".to_owned(), value())),
                "type" if attribute.value.as_str() == Some("ssh") => {}
                _ => self.left_out(attribute, "this setting of a connection is not converted"),
            }
        }
        if !proxy.is_empty() {
            entries.push(("proxy".to_owned(), hcl::object(&proxy)));
        }
        vec![Entry::new("connection", hcl::object(&entries))]
    }
}
