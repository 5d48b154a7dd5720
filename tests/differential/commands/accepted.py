"""Differences on purpose: a pattern for the signature and, behind ` $ `, the command; and the reason."""

import re

ACCEPTED = [
    (r"^version ", "a reference built from sources says no version"),
    (r"^(up|preview|refresh|destroy) stderr <missing> \| Replaced or deleted, and why:", "the reasons of replacements"),
    (r"searching upwards from \) .*\| .*searching upwards from \S", "the folder is named where the reference names none"),
    (r"invalid YAML file|could not validate|did not find expected", "problems of files have the words of another parser, and places"),
    (r"^stack change-secrets-provider exit", "an empty passphrase is not taken from nobody"),
    (r"^config set exit .*as bool", "what is no truth value is refused"),
    (r"cannot unmarshal .* \| .*invalid type", "JSON of another shape has the words of another parser"),
    (r"^state (move|mv|repair) exit # .*requires --yes", "states are not changed without a confirmation"),
    (r"^stack export .*ability to export previous", "previous states can be exported"),
    (r"^state upgrade exit # .*requires --yes", "stores are not changed without a confirmation"),
    (r"^state (move|mv) stdout .*(\x1b|Do you want)", "a move is not done without a confirmation"),
    (r"^.* stderr .*(hint\[|fatal error|goroutine|panic)", "hints are this program's own; nothing is said where the reference crashes"),
    (r" (stdout|stderr) <help> \| <missing>", "the reference shows its help beside some errors"),
    (r" snapshot integrity error\. This is a bug!", "what is wrong with a state is said in a line, and what only shows it does so"),
    (r"^stack (history|hist) stdout (Version: #|    \"_\": #,?) \| ", "updates are numbered"),
    (r"^destroy (stdout|file <store>).*\$ .*--run-program", "what a destroy makes because the program says so is deleted again"),
    (r"^(console|policy \S+|logs) ", "what is not there is said in words of its own"),
    (r"^(schema( check)?|login|stack select) stderr ", "mistakes in schemas, addresses and names of providers have words of their own"),
    (r"^plugin (ls|list) ", "languages are built in"),
    (r"settings of the stack cannot be saved", "settings are not written into another project"),
    (r"^config .* file \S+ config: \| strange: ", "unknown members of settings are kept"),
    (r"^package stdout <missing> \| {", "a schema with mistakes is shown, with its mistakes"),
    (r"^about stdout ", "versions, machines and plugins are those of this program"),
    (r"^plugin (rm|remove) exit .*invalid plugin semver", "versions may have fewer numbers"),
    (r"^plugin run stderr .*open PulumiPlugin.yaml", "a name of one letter is a name"),
    (r"^up stderr .*2 errors occurred: \| .*template '", "templates are not looked for on the net"),
    (r"^plugin (rm|remove) exit .*requires --yes", "plugins are not removed without a confirmation"),
    (r"performing HTTP request", "there is no registry to ask"),
    (r" stderr <missing> \| warning: no resource plugin", "missing plugins are named before the program needs them"),
    (r"rpc error: code = Canceled", "a host that was stopped has nothing to add"),
    (r"^import exit .*load converter plugin", "a confirmation is asked for before a converter runs"),
    (r"^(up|preview) stdout +# unchanged \| +# unchanged \$ .*(-t|--target)", "what a wrong target would have left alone is not counted"),
    (r"^config (cp|copy) file ", "what is copied nowhere changes nothing"),
    (r"^config set-all file \S+ <there> \| <none>", "settings without a value have no file"),
    (r"does not satisfy the version range", "a reference built from sources says no version"),
    (r"error marshaling value &workspace", "values of the reference's own language are not shown"),
    (r"^(up|new) (stderr|stdout|exit) .*\$ .*https://example.invalid", "what a download failed for is said by git"),
    (r"^stack (init|new) (stderr|file|exit) .*\$ .*--copy-config-from", "nothing is made where there is nothing to copy"),
    (r"^state repair stderr Pulumi is unable", "one line of advice"),
    (r" stdout .*\[Pulumi Neo\]", "there is no service to link to"),
    (r"^up stdout  \| <missing> \$ .*--suppress-permalink", "there is no service to link to, and no line around the link"),
    (r" stdout .*<\{%fg [1#]%\}>", "colours are no text where there are none"),
    (r"^(up|preview|refresh|destroy|import) stderr <missing> \| (error|warning): .*\$ .*--output[= ]json", "why an operation failed is said"),
    (r"bad value \| .*bad ciphertext", "what is wrong with a ciphertext is said"),
    (r" stderr \tpulumi .* \| |\| \tpulumi ", "suggestions are of commands that are there, and sorted"),
    (r"^(up|preview) file plan\.json +\"_\",? \| +\"_\"", "the reference lists what goes in an order of chance"),
    (r"^state (move|mv) exit .*must be different", "a stack is not moved into itself"),
    (r"^state rename exit .*ambiguously refers", "what waits for its deletion is no reason against a new name"),
    (r"^stack rename file <store>", "what is of another stack comes along"),
    (r"^config refresh file \S+ +\S+: \"_\" \| +\S+: (#|true|false)", "values that are the same keep their form"),
]
COMPILED = [(re.compile(pattern, re.DOTALL), reason) for pattern, reason in ACCEPTED]


def reason_for(signature, words):
    """Why a difference of the command with these words is accepted; None if it is not."""
    subject = f"{signature} $ {' '.join(words)}"
    for pattern, reason in COMPILED:
        if pattern.search(subject):
            return reason
    return None
