//! Modules of tokens (`schema.md` 11).

/// Pattern that extracts the module from the middle part of a token.
#[derive(Debug)]
pub(crate) struct ModuleFormat(Option<regex::Regex>);

impl ModuleFormat {
    /// A pattern from the schema; if it is missing or invalid, the whole middle part is the module.
    pub(crate) fn new(pattern: Option<&str>) -> Self {
        ModuleFormat(
            pattern
                .filter(|pattern| *pattern != "(.*)")
                .and_then(|pattern| regex::Regex::new(pattern).ok()),
        )
    }

    /// The pattern, if it is not the default.
    pub(crate) fn pattern(&self) -> Option<&str> {
        self.0.as_ref().map(regex::Regex::as_str)
    }

    /// The module of `token`; empty for the root module.
    pub(crate) fn module_of(&self, token: &str) -> String {
        let mut parts = token.split(':');
        let (Some(package), Some(middle), Some(_), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return String::new();
        };
        if package == "pulumi" && matches!(middle, "pulumi" | "providers") {
            return String::new();
        }
        let module = match &self.0 {
            None => middle,
            Some(pattern) => pattern
                .captures(middle)
                .and_then(|captures| captures.get(1))
                .map_or("", |group| group.as_str()),
        };
        if module == "index" {
            String::new()
        } else {
            module.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_tokens() {
        let bridged = ModuleFormat::new(Some("(.*)(?:/[^/]*)"));
        assert_eq!(bridged.module_of("aws:s3/bucket:Bucket"), "s3");
        assert_eq!(bridged.module_of("random:index/randomPet:RandomPet"), "");
        assert_eq!(bridged.module_of("pulumi:providers:aws"), "");
        let plain = ModuleFormat::new(None);
        assert_eq!(plain.module_of("command:local:Command"), "local");
        assert_eq!(plain.module_of("lab:index:Thing"), "");
        assert_eq!(plain.module_of("lab:Thing"), "");
    }
}
