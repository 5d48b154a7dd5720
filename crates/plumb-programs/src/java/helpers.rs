//! Methods of `App` that expressions call.

/// A helper method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Can,
    Entries,
    FileBase64,
    FileBase64Sha256,
    FirstOf,
    Indexed,
    Item,
    Member,
    NotImplemented,
    Number,
    OutputOf,
    ReadFile,
    Sha1,
    SingleOrNone,
}

impl Helper {
    pub(super) fn name(self) -> &'static str {
        match self {
            Helper::Can => "can",
            Helper::Entries => "entries",
            Helper::FileBase64 => "fileBase64",
            Helper::FileBase64Sha256 => "fileBase64Sha256",
            Helper::FirstOf => "firstOf",
            Helper::Indexed => "indexed",
            Helper::Item => "item",
            Helper::Member => "member",
            Helper::NotImplemented => "notImplemented",
            Helper::Number => "number",
            Helper::OutputOf => "outputOf",
            Helper::ReadFile => "readFile",
            Helper::Sha1 => "sha1",
            Helper::SingleOrNone => "singleOrNone",
        }
    }

    /// Classes that its text refers to.
    pub(super) fn imports(self) -> &'static [&'static str] {
        match self {
            Helper::Can => &["java.util.function.Supplier"],
            Helper::Entries => &[
                "java.util.List",
                "java.util.Map",
                "java.util.TreeMap",
                "java.util.stream.Collectors",
            ],
            Helper::FileBase64 => &[
                "java.io.IOException",
                "java.io.UncheckedIOException",
                "java.nio.file.Files",
                "java.nio.file.Path",
                "java.util.Base64",
            ],
            Helper::FileBase64Sha256 => &[
                "java.nio.file.Files",
                "java.nio.file.Path",
                "java.security.MessageDigest",
                "java.util.Base64",
            ],
            Helper::FirstOf => &["java.util.function.Supplier"],
            Helper::Indexed => &[
                "java.util.List",
                "java.util.Map",
                "java.util.stream.Collectors",
                "java.util.stream.IntStream",
            ],
            Helper::Item => &["java.util.List"],
            Helper::Member => &["java.util.Map", "java.util.NoSuchElementException"],
            Helper::NotImplemented => &[],
            Helper::Number => &["java.math.BigDecimal"],
            Helper::OutputOf => &[
                "com.pulumi.core.Output",
                "java.util.ArrayList",
                "java.util.LinkedHashMap",
                "java.util.List",
                "java.util.Map",
            ],
            Helper::ReadFile => &[
                "java.io.IOException",
                "java.io.UncheckedIOException",
                "java.nio.file.Files",
                "java.nio.file.Path",
            ],
            Helper::Sha1 => &[
                "java.nio.charset.StandardCharsets",
                "java.security.MessageDigest",
            ],
            Helper::SingleOrNone => &["java.util.List", "java.util.Optional"],
        }
    }

    /// Lines of the method.
    pub(super) fn text(self) -> &'static str {
        match self {
            Helper::Can => CAN,
            Helper::Entries => ENTRIES,
            Helper::FileBase64 => FILE_BASE64,
            Helper::FileBase64Sha256 => FILE_BASE64_SHA256,
            Helper::FirstOf => FIRST_OF,
            Helper::Indexed => INDEXED,
            Helper::Item => ITEM,
            Helper::Member => MEMBER,
            Helper::NotImplemented => NOT_IMPLEMENTED,
            Helper::Number => NUMBER,
            Helper::OutputOf => OUTPUT_OF,
            Helper::ReadFile => READ_FILE,
            Helper::Sha1 => SHA1,
            Helper::SingleOrNone => SINGLE_OR_NONE,
        }
    }
}

const CAN: &str = "\
/** Whether a value can be computed. */
static boolean can(Supplier<Object> value) {
    try {
        value.get();
        return true;
    } catch (RuntimeException error) {
        return false;
    }
}
";

const ENTRIES: &str = "\
/** Keys and values of a map, by key. */
static List<Map<String, Object>> entries(Map<String, ?> map) {
    return new TreeMap<>(map).entrySet().stream()
        .map(entry -> Map.<String, Object>of(\"key\", entry.getKey(), \"value\", entry.getValue()))
        .collect(Collectors.toList());
}
";

const FILE_BASE64: &str = "\
/** Contents of a file in base64. */
static String fileBase64(String path) {
    try {
        return Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(path)));
    } catch (IOException error) {
        throw new UncheckedIOException(error);
    }
}
";

const FILE_BASE64_SHA256: &str = "\
/** SHA-256 digest of a file in base64. */
static String fileBase64Sha256(String path) {
    try {
        var digest = MessageDigest.getInstance(\"SHA-256\").digest(Files.readAllBytes(Path.of(path)));
        return Base64.getEncoder().encodeToString(digest);
    } catch (Exception error) {
        throw new IllegalStateException(error);
    }
}
";

const FIRST_OF: &str = "\
/** The first value that can be computed. */
@SafeVarargs
static <T> T firstOf(Supplier<T>... values) {
    for (int i = 0; i < values.length - 1; i++) {
        try {
            return values[i].get();
        } catch (RuntimeException error) {
            // The next value may do.
        }
    }
    return values[values.length - 1].get();
}
";

const INDEXED: &str = "\
/** Elements of a list with their positions. */
static <T> List<Map.Entry<Integer, T>> indexed(List<T> list) {
    return IntStream.range(0, list.size())
        .mapToObj(index -> Map.entry(index, list.get(index)))
        .collect(Collectors.toList());
}
";

const ITEM: &str = "\
/** An element of a list of values of any type. */
static Object item(Object list, int index) {
    return ((List<?>) list).get(index);
}
";

const MEMBER: &str = "\
/** An entry of a map, which must exist. */
static Object member(Object map, String key) {
    if (map instanceof Map && ((Map<?, ?>) map).containsKey(key)) {
        return ((Map<?, ?>) map).get(key);
    }
    throw new NoSuchElementException(\"there is no member \" + key);
}
";

const NOT_IMPLEMENTED: &str = "\
/** Stands for what could not be converted. */
static <T> T notImplemented(String message) {
    throw new UnsupportedOperationException(message);
}
";

const NUMBER: &str = "\
/** Text of a number, without a fraction if it is whole. */
static String number(double value) {
    return value == 0 ? \"0\" : new BigDecimal(String.valueOf(value)).stripTrailingZeros().toPlainString();
}
";

const OUTPUT_OF: &str = "\
/** Output of a value that contains outputs. */
@SuppressWarnings(\"unchecked\")
static <T> Output<T> outputOf(Object value) {
    if (value instanceof Output) {
        return ((Output<Object>) value).apply(inner -> outputOf(inner));
    }
    if (value instanceof List) {
        var items = new ArrayList<Output<Object>>();
        ((List<Object>) value).forEach(item -> items.add(outputOf(item)));
        return (Output<T>) Output.all(items);
    }
    if (value instanceof Map) {
        var map = (Map<String, Object>) value;
        var keys = List.copyOf(map.keySet());
        var items = new ArrayList<Output<Object>>();
        keys.forEach(key -> items.add(outputOf(map.get(key))));
        return (Output<T>) Output.all(items).applyValue(values -> {
            var known = new LinkedHashMap<String, Object>();
            for (int i = 0; i < keys.size(); i++) {
                known.put(keys.get(i), values.get(i));
            }
            return known;
        });
    }
    return (Output<T>) Output.ofNullable(value);
}
";

const READ_FILE: &str = "\
/** Text of a file. */
static String readFile(String path) {
    try {
        return Files.readString(Path.of(path));
    } catch (IOException error) {
        throw new UncheckedIOException(error);
    }
}
";

const SHA1: &str = "\
/** SHA-1 digest of a text in hexadecimal form. */
static String sha1(String text) {
    try {
        var digest = MessageDigest.getInstance(\"SHA-1\").digest(text.getBytes(StandardCharsets.UTF_8));
        var hex = new StringBuilder();
        for (byte value : digest) {
            hex.append(String.format(\"%02x\", value));
        }
        return hex.toString();
    } catch (java.security.NoSuchAlgorithmException error) {
        throw new IllegalStateException(error);
    }
}
";

const SINGLE_OR_NONE: &str = "\
/** The only element of a list; empty if the list is. */
static <T> Optional<T> singleOrNone(List<T> list) {
    if (list.size() > 1) {
        throw new IllegalArgumentException(\"the list has \" + list.size() + \" elements instead of at most one\");
    }
    return list.stream().findFirst();
}
";
