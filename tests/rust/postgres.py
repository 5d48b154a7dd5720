#!/usr/bin/env python3
"""The provider for PostgreSQL with a real server: its own tests, its lints, and a deployment.

    tests/rust/postgres.py --bin target/debug/plumb --postgres "$(tests/setup-postgres.sh)" [--target DIR]

Only the standard library is used.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from plugins import Project, expect
from sdks import Failed, ROOT, World

sys.path.insert(0, str(ROOT / "tests/e2e"))
from store_servers import Postgres

PROVIDER = ROOT / "providers/postgres"

PROGRAM = """name: shop
runtime: yaml
packages:
  postgres: PROVIDER
resources:
  shop:
    type: postgres:Database
    properties: {name: shop, comment: Orders and customers}
  app:
    type: postgres:Role
    properties: {name: app, login: true, generatePassword: {version: VERSION}}
  readers:
    type: postgres:Role
    properties: {name: readers}
  sales:
    type: postgres:Schema
    properties: {name: sales, database: "${shop.name}", owner: "${app.name}"}
  crypto:
    type: postgres:Extension
    properties: {name: pgcrypto, database: "${shop.name}", schema: "${sales.name}"}
  use:
    type: postgres:Grant
    properties: {role: "${readers.name}", database: "${shop.name}", objectType: schema, schema: "${sales.name}", privileges: [USAGE]}
  select:
    type: postgres:DefaultPrivileges
    properties:
      owner: ${app.name}
      role: ${readers.name}
      database: ${shop.name}
      schema: ${sales.name}
      objectType: table
      privileges: [SELECT]
  member:
    type: postgres:Membership
    properties: {role: "${readers.name}", member: "${app.name}"}
outputs:
  password: ${app.password}
  collation: ${shop.lcCollate}
"""


class Shop(Project):
    """A project with a database, roles and privileges."""

    def __init__(self, world, server):
        self.server, self.folder = server, world.root / "shop"
        self.folder.mkdir()
        self.write("1")
        super().__init__(world, self.folder)
        self("config", "set", "--secret", "postgres:url", server.url)

    def write(self, version):
        program = PROGRAM.replace("PROVIDER", str(PROVIDER)).replace("VERSION", f'"{version}"')
        (self.folder / "Pulumi.yaml").write_text(program)

    def deploy(self):
        preview = self("preview", "--diff")
        expect("collation" in preview, preview)
        shown = self("up", "--yes")
        first = self.outputs()
        expect(len(first["password"]) == 32 and first["collation"] == "C", first)
        expect(first["password"] not in shown, "the password is shown")
        kept = "".join(path.read_text() for path in (self.world.root / "state").rglob("*.json"))
        expect(first["password"] not in kept, "the password is in the state")
        self.server.run("CREATE TABLE sales.orders (id int)", "shop", "app", first["password"])
        self("up", "--yes", "--expect-no-changes")
        self("refresh", "--yes", "--expect-no-changes")
        return first["password"]

    def rotate(self, old):
        self.write("2")
        preview = self("preview", "--diff")
        expect("postgres:index/role" not in preview and "replace" not in preview, preview)
        self("up", "--yes")
        new = self.outputs()["password"]
        self.server.run("SELECT 1", "shop", "app", new)
        expect(old != new, "it is the same password")
        expect(old not in self.server.log.read_text(), "the server's log has the password")

    def drift(self):
        """Somebody renames a role, changes a database and takes a privilege away: the next deployment repairs all of it."""
        self.server.run("REVOKE USAGE ON SCHEMA sales FROM readers", "shop")
        self.server.run("ALTER DATABASE shop CONNECTION LIMIT 3")
        self.server.run("ALTER ROLE app RENAME TO application")
        self("refresh", "--yes")
        shown = self("up", "--yes")
        expect("replaced" not in shown, shown)
        self("refresh", "--yes", "--expect-no-changes")
        self("up", "--yes", "--expect-no-changes")

    def lists(self):
        checked = self("provider", "check", str(PROVIDER))
        expect(" 0 broken" in checked, checked)
        shown = self("do", "postgres:Schema", "list", "--database", "shop")
        expect("shop/sales" in shown and "shop/public" in shown and "pg_catalog" not in shown, shown)

    def adopt(self):
        """What is there already is discovered, and becomes part of the stack."""
        self.server.run("CREATE SCHEMA archive; CREATE SCHEMA archive2", "shop")
        discover = ["import", "--discover", "postgres:Schema"]
        in_shop = ["--", "--database", "shop"]
        shown = self(*discover, *in_shop)
        expect("shop/archive2" in shown and "shop/public" in shown and "shop/sales" not in shown, shown)
        found = json.loads(self(*discover, "--filter", "2$", "--json", *in_shop))
        expect(found == [{"type": "postgres:index:Schema", "name": "archive2", "id": "shop/archive2"}], found)
        shown = self(*discover, "--filter", "^archive", "--yes", *in_shop)
        expect("= 2 imported" in shown and "archive2" in shown, shown)
        shown = self(*discover, "--filter", "^archive", "--yes", *in_shop)
        expect("no resource of the type postgres:index:Schema" in shown, shown)
        expect("cannot list" in self("import", "--discover", "postgres:Grant", code=1), "there is a list")
        for urn in self("stack", "--show-urns").split():
            if urn.endswith(("Schema::archive", "Schema::archive2")):
                self("state", "delete", "--force", "--yes", urn)


class Server(Postgres):
    """A server that logs all statements."""

    @property
    def url(self):
        return f"postgres://plumb:{self.password}@localhost:{self.port}/postgres"

    def run(self, statement, database="postgres", user="plumb", password=None):
        command = [self.programs / "psql", "-h", "localhost", "-p", self.port, "-U", user, "-d", database, "-v", "ON_ERROR_STOP=1",
                   "-c", statement]
        environment = {**os.environ, "PGPASSWORD": password or self.password}
        done = subprocess.run([str(it) for it in command], env=environment, capture_output=True, text=True)
        expect(done.returncode == 0, f"{statement}: {done.stderr}")

    def __init__(self, folder, programs):
        self.programs = programs
        super().__init__(folder, programs)
        self.run("ALTER SYSTEM SET log_statement = 'all'")
        self.run("SELECT pg_reload_conf()")


def own_tests(world, server):
    """Tests, lints and format of the crate."""
    world.environment["POSTGRES_TEST_URL"] = server.url
    world.command("cargo", "fmt", "--check", cwd=PROVIDER)
    # Clippy is the compiler with more lints, so nothing is compiled twice for them.
    lints = {"RUSTC_WORKSPACE_WRAPPER": "clippy-driver", "CLIPPY_ARGS": "-Dwarnings__CLIPPY_HACKERY__"}
    world.environment.update(lints)
    world.command("cargo", "test", "--quiet", "--", "--include-ignored", cwd=PROVIDER)
    for name in lints:
        del world.environment[name]


def deployment(world, server):
    shop = Shop(world, server)
    shop.rotate(shop.deploy())
    shop.drift()
    shop.lists()
    shop.adopt()
    shown = shop("destroy", "--yes", code=1)
    expect("table sales.orders depends on schema sales" in shown, shown)
    server.run("DROP TABLE sales.orders", "shop")
    shop("destroy", "--yes")
    # All of it is gone.
    for name in ("ROLE app", "ROLE readers", "DATABASE shop"):
        server.run(f"CREATE {name}")


def main():
    parser = argparse.ArgumentParser(description="Test the provider for PostgreSQL.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--postgres", required=True, type=Path, help="the folder that tests/setup-postgres.sh printed")
    parser.add_argument("--target", type=Path, default=ROOT / "target/rust-sdk", help="where Cargo builds")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="plumb-postgres-") as root:
        root = Path(root).resolve()
        for folder in ("world", "server"):
            (root / folder).mkdir()
        world = World(options.bin.resolve(), options.target.resolve(), root / "world")
        server = Server(root / "server", options.postgres.resolve())
        try:
            for case in (own_tests, deployment):
                try:
                    case(world, server)
                    print(f"passed {case.__name__}", flush=True)
                except Failed as error:
                    failed += 1
                    print(f"FAILED {case.__name__}\n    " + str(error).replace("\n", "\n    "), flush=True)
        finally:
            server.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
