"""The Java programs of `tests/programs.py`: compiled together, because a Maven build of each of them would take minutes.

Each program becomes a package of one archive, whose main class runs the one that the engine asks for. It uses SDKs that `plumb`
makes for its built-in providers. One program is also run as the project that `convert` writes.
"""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

SDKS = ("random", "command")
# It has several files.
AS_PROJECT = "component"
# A project that needs the core SDK only.
PROGRAM = Path(__file__).resolve().parent / "e2e" / "java" / "program"


class JavaPrograms:
    def __init__(self, binary, repository, root):
        self.binary, self.repository, self.root = binary, repository, root
        self.folder = root / "java-programs"
        self.archive = self.folder / "programs.jar"
        self.sdks = [self.folder / "sdks" / name for name in SDKS]

    @property
    def environment(self):
        return {"MAVEN_OPTS": f"-Dmaven.repo.local={self.repository}", "MAVEN_ARGS": "--offline"}

    def libraries(self):
        """Archives that programs need at run time, as Maven finds them."""
        out = self.folder / "libraries"
        command = ["mvn", "--batch-mode", "--quiet", "--offline", f"-Dmaven.repo.local={self.repository}",
                   f"-Dmdep.outputFile={out}", "dependency:build-classpath"]
        subprocess.run(command, cwd=PROGRAM, check=True, capture_output=True, timeout=300)
        return [Path(it) for it in out.read_text().split(os.pathsep)]

    def make_sdks(self):
        self.folder.mkdir(parents=True)
        for name, out in zip(SDKS, self.sdks):
            command = [self.binary, "package", "gen-sdk", "--local", "--language", "java", "--out", out, name]
            environment = {**os.environ, "PULUMI_HOME": str(self.root / "home" / "pulumi")}
            subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)

    def check(self, names):
        """Compiles the programs; returns what failed."""
        self.make_sdks()
        sources, classes = self.folder / "sources", self.folder / "classes"
        sources.mkdir(parents=True)
        programs = {name: f"p{at:02}" for at, name in enumerate(names) if (self.root / "java" / name).exists()}
        for name, package in programs.items():
            (sources / package).mkdir(parents=True)
            for file in (self.root / "java" / name).rglob("*.java"):
                (sources / package / file.name).write_text(file.read_text().replace("package app;\n", f"package {package};\n", 1))
        cases = "".join(f'            case "{name}": {package}.App.main(args); break;\n' for name, package in programs.items())
        (sources / "Main.java").write_text(
            "public class Main {\n    public static void main(String[] args) {\n"
            f'        switch (System.getenv("PULUMI_PROJECT")) {{\n{cases}        }}\n    }}\n}}\n')
        files = [str(it) for folder in (sources, *self.sdks) for it in folder.rglob("*.java")]
        (self.folder / "files").write_text("\n".join(files))
        libraries = self.libraries()
        command = ["javac", "-nowarn", "-Xlint:none", "--release", "11", "-cp", os.pathsep.join(map(str, libraries)), "-d", classes,
                   f"@{self.folder / 'files'}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if not line.startswith("Note:")]
            return [f"javac: {line}" for line in lines]
        for sdk in self.sdks:
            for resources in sdk.rglob("src/main/resources"):
                shutil.copytree(resources, classes, dirs_exist_ok=True)
        self.pack(classes, libraries)
        return []

    def pack(self, classes, libraries):
        paths = " ".join(it.as_uri() for it in libraries)
        manifest = f"Manifest-Version: 1.0\nMain-Class: Main\nClass-Path: {paths}"
        # Lines have at most 72 bytes; the rest goes on behind a blank.
        lines = []
        for line in manifest.splitlines():
            lines.append(line[:70])
            lines += [" " + line[at:at + 69] for at in range(70, len(line), 69)]
        with zipfile.ZipFile(self.archive, "w") as archive:
            archive.writestr("META-INF/MANIFEST.MF", "\n".join(lines) + "\n")
            for file in sorted(classes.rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(classes))

    def prepare(self, name, folder):
        """Makes a converted project ready to be run."""
        project = folder / "Pulumi.yaml"
        if name == AS_PROJECT:
            self.use_folders(folder / "pom.xml")
        else:
            runtime = f"runtime:\n  name: java\n  options:\n    binary: {self.archive}"
            project.write_text(project.read_text().replace("runtime: java", runtime))

    def use_folders(self, manifest):
        """Has the project compile the SDKs instead of asking Maven for them."""
        kept, sources = [], "".join(f"<source>{it}/src/main/java</source>" for it in self.sources())
        for part in manifest.read_text().split("<dependency>"):
            if not any(f"<artifactId>{name}</artifactId>" in part for name in SDKS):
                kept.append(part)
                continue
            # What follows the dependency stays.
            kept[-1] += part.partition("</dependency>")[2]
        plugin = (
            "<plugin><groupId>org.codehaus.mojo</groupId><artifactId>build-helper-maven-plugin</artifactId><version>3.6.0</version>"
            "<executions><execution><phase>generate-sources</phase><goals><goal>add-source</goal></goals>"
            f"<configuration><sources>{sources}</sources></configuration></execution>"
            "<execution><id>resources</id><phase>generate-resources</phase><goals><goal>add-resource</goal></goals>"
            f"<configuration><resources>{sources}</resources></configuration></execution></executions></plugin>")
        plugin = plugin.replace(f"<resources>{sources}", "<resources>" + "".join(
            f"<resource><directory>{it}/src/main/resources</directory></resource>" for it in self.sources()))
        needed = "<dependency><groupId>com.google.code.findbugs</groupId><artifactId>jsr305</artifactId><version>3.0.2</version></dependency>"
        kept[-1] = kept[-1].replace("</dependencies>", needed + "</dependencies>")
        manifest.write_text("<dependency>".join(kept).replace("</plugins>", plugin + "</plugins>"))

    def sources(self):
        """Folders of the SDKs."""
        return [next(it.rglob("src")).parent for it in self.sdks]
