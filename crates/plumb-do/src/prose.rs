//! Conversion of descriptions in schemas, which are Markdown for web pages, to help texts.

/// Sections that only concern SDKs.
const LEFT_OUT: [&str; 3] = ["example usage", "example", "import"];

/// First paragraph, on one line.
pub(super) fn summary(description: &str) -> String {
    let text = without_tags(description);
    let lines = text.trim().lines().map(str::trim);
    let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    first.join(" ")
}

/// The description without examples, code and parts for the web.
pub(super) fn description(text: &str) -> String {
    let text = without_tags(text);
    let mut kept: Vec<&str> = Vec::new();
    let mut is_code = false;
    // Level of the heading whose section is being skipped.
    let mut left_out: Option<usize> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if is_code || trimmed.starts_with("{{%") {
            continue;
        }
        let level = trimmed.chars().take_while(|char| *char == '#').count();
        if level > 0 {
            let title = trimmed[level..].trim().to_lowercase();
            if left_out.is_none_or(|outer| level <= outer) {
                left_out = LEFT_OUT.contains(&title.as_str()).then_some(level);
            }
        }
        let is_repeated_gap = line.trim().is_empty() && kept.last().is_none_or(|it| it.is_empty());
        if left_out.is_none() && !is_repeated_gap {
            kept.push(line.trim_end());
        }
    }
    kept.join("\n").trim().to_owned()
}

/// The text without HTML tags, which mark text for different languages.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest
        .find("<span")
        .into_iter()
        .chain(rest.find("</span"))
        .chain(rest.find("<!--"))
        .min()
    {
        out.push_str(&rest[..start]);
        rest = match rest[start..].find('>') {
            Some(end) => &rest[start + end + 1..],
            None => "",
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_the_first_paragraph() {
        assert_eq!(summary("One\nline.\n\nMore."), "One line.");
        assert_eq!(
            summary("Set <span pulumi-lang-go=\"`X`\">`x`</span> here."),
            "Set `x` here."
        );
        assert_eq!(summary(""), "");
    }

    #[test]
    fn examples_are_left_out() {
        let text = "A bucket.\n\n## Example Usage\n\n### Basic\n```ts\ncode\n```\n\n## Notes\n\nMind.\n\n{{% examples %}}\n## Import\n\nSo.";
        assert_eq!(description(text), "A bucket.\n\n## Notes\n\nMind.");
    }
}
