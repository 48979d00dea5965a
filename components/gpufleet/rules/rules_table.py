"""The rules as documentation."""

import re

from gpufleet.rules.rule import all_rules


def rules_table_markdown() -> str:
    """A Markdown table of all rules, by name: name (the target of `Rule.anchor`), severity, sentence and source."""
    rows = ["| rule | severity | what it demands | source |", "|---|---|---|---|"]
    for rule in all_rules():
        cells = (
            f'<a id="{rule.name}"></a>`{rule.name}`',
            rule.severity.value,
            no_html(rule.sentence),
            no_html(rule.source),
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def no_html(text: str) -> str:
    """Markdown in which <name> is shown as it stands, outside of code too."""
    return re.sub(r"(`[^`]*`)|<(?=[\w/])", lambda found: found[1] or r"\<", text)
