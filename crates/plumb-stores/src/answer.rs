//! Readable errors of object stores.

use std::fmt;

use object_store::Error;

/// Error of a store. Its text has the code and message of the response; the rest of the document is removed, because
/// servers repeat the request and the access key in it.
#[derive(Debug)]
pub(crate) struct Answer(pub(crate) Error);

impl std::error::Error for Answer {}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.no_credentials() {
            Some(missing) => missing.fmt(f),
            None => f.write_str(&shortened(&self.0.to_string())),
        }
    }
}

impl Answer {
    /// The reason why there was no request, if credentials could not be loaded.
    pub(crate) fn no_credentials(&self) -> Option<&NoCredentials> {
        match &self.0 {
            Error::Unauthenticated { source, .. } => source.downcast_ref(),
            _ => None,
        }
    }
}

/// Credentials that could not be loaded.
#[derive(Debug)]
pub(crate) struct NoCredentials {
    cloud: &'static str,
    cause: String,
    /// Advice for the user.
    pub(crate) advice: &'static str,
}

impl NoCredentials {
    /// The error of a client that could not load the credentials of this cloud.
    #[cfg(any(feature = "aws", feature = "google"))]
    pub(crate) fn error(
        cloud: &'static str,
        advice: &'static str,
        cause: &(dyn std::error::Error + 'static),
    ) -> Error {
        let mut causes = vec![cause.to_string()];
        let mut next = cause.source();
        while let Some(error) = next {
            let text = error.to_string();
            // Some errors repeat what has caused them.
            if !causes.iter().any(|it| it.contains(&text)) {
                causes.push(text);
            }
            next = error.source();
        }
        let missing = NoCredentials {
            cloud,
            cause: causes.join(": "),
            advice,
        };
        Error::Unauthenticated {
            path: String::new(),
            source: Box::new(missing),
        }
    }
}

impl std::error::Error for NoCredentials {}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoCredentials { cloud, cause, .. } = self;
        write!(f, "credentials of {cloud} could not be loaded: {cause}")
    }
}

/// Text of the error with `Code: Message` in place of its XML document.
fn shortened(text: &str) -> String {
    let start = ["<?xml", "<Error"]
        .iter()
        .filter_map(|it| text.find(it))
        .min();
    let Some((before, document)) = start.map(|start| text.split_at(start)) else {
        return text.to_owned();
    };
    let said = [member(document, "Code"), member(document, "Message")];
    let said: Vec<&str> = said.into_iter().flatten().collect();
    if said.is_empty() {
        return text.to_owned();
    }
    format!("{before}{}", said.join(": "))
}

/// Text of the first XML element with this name.
fn member<'t>(document: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    Some(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_servers_become_code_and_message() {
        let document = "<?xml version=\"1.0\"?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>Check your \
                        key.</Message><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>";
        let said = "403 Forbidden: SignatureDoesNotMatch: Check your key.";
        assert_eq!(shortened(&format!("403 Forbidden: {document}")), said);
        for other in [
            "connection refused",
            "502: <html>bad gateway</html>",
            "<Error/>",
        ] {
            assert_eq!(shortened(other), other);
        }
    }
}
