"""Takes out of texts what differs in any two runs."""

import re

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

RULES = [
    (r"\bv?3\.26\d\.\d+[-+.\w]*", "<version>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[-+]\d\d:?\d\d( UTC)?)?", "<time>"),
    (r"\b(\d+ (second|minute)s? ago|now)\b", "<ago>"),
    (r"\bv1:[A-Za-z0-9+/=]+(:v1)?:[A-Za-z0-9+/=]+(:[A-Za-z0-9+/=]+)?", "<ciphertext>"),
    (r"(Duration: |took |in )\d[\dms.h]*", r"\1<duration>"),
    (r"\((\d+m)?\d+(\.\d+)?(s|ms|µs)\)", "(<duration>)"),
    # A stream leaves out events of both sides' own.
    (r'"(duration|durationSeconds|timestamp|sequence|pid)": ?\d+', r'"\1": <number>'),
    # The state as the material has it, where a command that failed has written the same state again.
    (r'"v3\.250\.0"', '"<version>"'),
    # A reference built from sources says no version.
    (r'"magic": ?"([0-9a-f]{64})?"', '"magic": "<magic>"'),
    (r',\n\s*"pulumiVersion": ?"(<version>)?"(?=\n\s*})', ""),
    (r'("(?:v|pulumiV|pulumi\.v)ersion": ?)"(<version>)?"', r'\1"<version>"'),
    (r'"seed": ?"[A-Za-z0-9+/=]+"', '"seed": "<seed>"'),
    # Places in the sources of language hosts.
    (r'\n? *"sourcePosition": ?"[^"]*",?', ""),
    (r'\n? *"stackTrace": ?\[[^\]]*\],?', ""),
    (r",(\s*[}\]])", r"\1"),
    # The YAML host of the reference writes in colours wherever it writes to.
    (r"\x1b\[(31|33|1;4)m([^\x1b\n]*)\x1b\[0m", r"\2"),
    (r"\b(pid|process) \d+", r"\1 <pid>"),
]


class Normaliser:
    """Rules for one side, with the names that its ids get."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.ids = {}

    def text(self, text):
        text = text.replace(self.folder, "<root>")
        text = re.sub(UUID, self._id, text)
        for pattern, put in RULES:
            text = re.sub(pattern, put, text)
        return text

    def lines(self, text):
        """Lines without what nobody sees: spaces at their ends, empty lines at the end, lines that only say how long it takes."""
        lines = [line.rstrip() for line in self.text(text).split("\n")]
        # A reference built from sources says no version.
        lines = [line for line in lines if not line.startswith(("@ ", "    Pulumi version used: ", "    pulumi.version: "))]
        while lines and not lines[-1]:
            lines.pop()
        # A column is as wide as its times.
        return [re.sub(r" {2,}", "  ", line) if "<ago>" in line or line.startswith("NAME") else line for line in lines]

    def _id(self, match):
        if match[0].startswith("00000000-0000"):
            return match[0]
        return self.ids.setdefault(match[0], f"<id {len(self.ids) + 1}>")
