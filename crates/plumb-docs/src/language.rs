//! Languages that readers choose from.

/// A language for programs, including YAML, which needs no SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProgramLanguage {
    Typescript,
    Python,
    Go,
    Csharp,
    Java,
    Yaml,
}

impl ProgramLanguage {
    /// All languages, in display order.
    pub(crate) const ALL: [ProgramLanguage; 6] = [
        ProgramLanguage::Typescript,
        ProgramLanguage::Python,
        ProgramLanguage::Go,
        ProgramLanguage::Csharp,
        ProgramLanguage::Java,
        ProgramLanguage::Yaml,
    ];

    /// Identifier in language choosers and code fences.
    pub(crate) fn word(self) -> &'static str {
        match self {
            ProgramLanguage::Typescript => "typescript",
            ProgramLanguage::Python => "python",
            ProgramLanguage::Go => "go",
            ProgramLanguage::Csharp => "csharp",
            ProgramLanguage::Java => "java",
            ProgramLanguage::Yaml => "yaml",
        }
    }

    /// Identifier in schemas and in JSON.
    pub(crate) fn key(self) -> &'static str {
        match self {
            ProgramLanguage::Typescript => "nodejs",
            other => other.word(),
        }
    }

    /// Identifier in spans of descriptions that have a variant per language.
    pub(crate) fn span(self) -> &'static str {
        match self {
            ProgramLanguage::Csharp => "dotnet",
            other => other.key(),
        }
    }

    /// Display name.
    pub(crate) fn title(self) -> &'static str {
        match self {
            ProgramLanguage::Typescript => "TypeScript",
            ProgramLanguage::Python => "Python",
            ProgramLanguage::Go => "Go",
            ProgramLanguage::Csharp => "C#",
            ProgramLanguage::Java => "Java",
            ProgramLanguage::Yaml => "YAML",
        }
    }

    /// Language of a code fence.
    pub(crate) fn of_fence(info: &str) -> Option<Self> {
        let word = info.split([' ', ',', '{']).next().unwrap_or_default();
        Self::ALL
            .into_iter()
            .find(|language| language.word() == word)
    }

    /// Language with this identifier in schemas.
    pub(crate) fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.key() == key)
    }

    fn index(self) -> usize {
        self as usize
    }
}

/// A value for each language; languages may lack one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PerLanguage<T>([Option<T>; 6]);

impl<T> Default for PerLanguage<T> {
    fn default() -> Self {
        PerLanguage([const { None }; 6])
    }
}

impl<T> PerLanguage<T> {
    pub(crate) fn set(&mut self, language: ProgramLanguage, value: T) {
        self.0[language.index()] = Some(value);
    }

    pub(crate) fn get(&self, language: ProgramLanguage) -> Option<&T> {
        self.0[language.index()].as_ref()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ProgramLanguage, &T)> {
        let all = ProgramLanguage::ALL.into_iter().zip(&self.0);
        all.filter_map(|(language, value)| Some((language, value.as_ref()?)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl<T: PartialEq> PerLanguage<T> {
    /// Distinct values, each with its languages.
    pub(crate) fn grouped(&self) -> Vec<(Vec<ProgramLanguage>, &T)> {
        let mut groups: Vec<(Vec<ProgramLanguage>, &T)> = Vec::new();
        for (language, value) in self.iter() {
            match groups.iter_mut().find(|(_, known)| *known == value) {
                Some((languages, _)) => languages.push(language),
                None => groups.push((vec![language], value)),
            }
        }
        groups
    }
}

impl<T> FromIterator<(ProgramLanguage, T)> for PerLanguage<T> {
    fn from_iter<I: IntoIterator<Item = (ProgramLanguage, T)>>(values: I) -> Self {
        let mut result = PerLanguage::default();
        for (language, value) in values {
            result.set(language, value);
        }
        result
    }
}
