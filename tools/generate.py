"""Write the files of this repository that are generated from code and data, or (--check) tell which are not current.

A generator is a function without arguments that returns the whole text of its file. To add one, name it in
`GENERATORS`.
"""

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The file, relative to the repository -> "module:function" that returns its text.
GENERATORS: dict[str, str] = {
    "README.md": "tools.generated_readme:readme",
    "components/gpufleet/config/environment.schema.json": "gpufleet.config.schema:schema_text",
    "components/gpufleet/report/schema.json": "gpufleet.report.formats.json:schema_text",
    "components/packages/gpufleet-aws/requirements.txt": "tools.package_files:aws_requirements",
    "components/packages/gpufleet-aws/schema.json": "tools.package_files:aws_schema",
    "components/packages/gpufleet-azure/requirements.txt": "tools.package_files:azure_requirements",
    "components/packages/gpufleet-azure/schema.json": "tools.package_files:azure_schema",
    "components/packages/gpufleet-kubernetes/requirements.txt": "tools.package_files:kubernetes_requirements",
    "components/packages/gpufleet-kubernetes/schema.json": "tools.package_files:kubernetes_schema",
    "docs/aws-batch.md": "tools.generated_tables:aws_batch",
    "docs/azure.md": "tools.generated_tables:azure",
    "docs/components.md": "tools.generated_readme:component_page",
    "docs/configuration.md": "tools.generated_tables:configuration",
    "docs/decisions/README.md": "tools.generated_readme:decisions",
    "docs/onprem.md": "tools.generated_tables:onprem",
    "docs/permissions.md": "tools.generated_permissions:page",
    "docs/pictures/change.svg": "tools.generated_readme:change_picture",
    "docs/policies.md": "tools.generated_tables:policies",
    "docs/report.md": "tools.generated_tables:report",
    "docs/rules.md": "tools.generated_tables:rules",
    "docs/refusals.md": "tools.generated_tables:refusals",
    "docs/limits.md": "tools.generated_tables:limits",
    "docs/latencies.md": "tools.generated_tables:latencies",
    "templates/aws-batch-gpufleet/Pulumi.dev.yaml": "tools.generated_templates:aws_batch",
    "templates/aws-gpufleet/Pulumi.dev.yaml": "tools.generated_templates:aws",
    "templates/azure-gpufleet/Pulumi.dev.yaml": "tools.generated_templates:azure",
}


def main(check: bool) -> int:
    """Exit code 1 when `check` finds a file that differs from what its generator says now."""
    stale = []
    for name, generator in GENERATORS.items():
        module, function = generator.split(":")
        text: str = getattr(import_module(module), function)()
        file = ROOT / name
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    if check and stale:
        print(f"not current: {', '.join(stale)}; run `make generate` and commit them", file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
