//! Local policy packs (`cli.md` 3): `--policy-pack` and `--policy-pack-config`.

use std::path::Path;

use plumb_engine::policies::LocalPack;
use plumb_plugin::PackPlace;
use serde_json::{Map, Value};

use crate::{Context, Error};

/// Policy packs in local folders.
#[derive(Clone, Debug, Default)]
pub struct PackFlags {
    /// Paths of the packs.
    pub packs: Vec<String>,
    /// Paths of their configurations: none, or one for each pack.
    pub configs: Vec<String>,
}

impl PackFlags {
    /// Error unless there is one configuration per pack, or none at all.
    pub fn check(&self) -> Result<(), Error> {
        let (packs, configs) = (self.packs.len(), self.configs.len());
        if configs > 0 && packs == 0 {
            return Err(Error::user(
                "\"--policy-pack-config\" must be specified with \"--policy-pack\"",
            ));
        }
        if configs > 0 && configs != packs {
            return Err(Error::user(
                "the number of \"--policy-pack-config\" flags must match the number of \"--policy-pack\" flags",
            ));
        }
        Ok(())
    }
}

/// Packs with their configuration; [`PackFlags::check`] must have accepted them.
pub(super) fn local_packs(ctx: &Context, flags: &PackFlags) -> Result<Vec<LocalPack>, Error> {
    let cwd = &ctx.environment.cwd;
    let mut local = Vec::with_capacity(flags.packs.len());
    for (index, name) in flags.packs.iter().enumerate() {
        let config = flags.configs.get(index).filter(|path| !path.is_empty());
        let config = config
            .map(|path| read_config(&cwd.join(path)))
            .transpose()?;
        local.push(LocalPack {
            name: name.clone(),
            place: PackPlace::Path(cwd.join(name)),
            config: config.unwrap_or_default(),
        });
    }
    Ok(local)
}

fn read_config(path: &Path) -> Result<Map<String, Value>, Error> {
    let shown = path.display();
    let failed = |reason: &dyn std::fmt::Display| {
        Error::user(format!(
            "could not read the policy pack configuration {shown}: {reason}"
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_come_in_pairs_with_packs_or_not_at_all() {
        let flags = |packs, configs| PackFlags {
            packs: vec!["pack".to_owned(); packs],
            configs: vec!["config.json".to_owned(); configs],
        };
        for (packs, configs) in [(0, 0), (2, 0), (2, 2)] {
            assert!(flags(packs, configs).check().is_ok());
        }
        let refused = |packs, configs| flags(packs, configs).check().unwrap_err().text().unwrap();
        assert!(refused(0, 1).contains("must be specified with"));
        assert!(refused(2, 1).contains("must match the number"));
    }

    #[test]
    fn a_configuration_is_an_object() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        std::fs::write(&path, r#"{"all": "mandatory", "tag": {"key": "owner"}}"#).unwrap();
        let config = read_config(&path).unwrap();
        assert_eq!(config["tag"]["key"], "owner");
        std::fs::write(&path, "[]").unwrap();
        let shown = read_config(&path).unwrap_err().text().unwrap();
        assert!(shown.contains("config.json"), "{shown}");
    }
}
