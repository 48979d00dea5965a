"""Loading a table: what is wrong with it is one line that names file and row."""

import pytest

from gpufleet_rehearsal.table.loader import TableError, load_table

ROW = """
toy:a/b:C:
  id: "x-{hex:3}"
  latency: {create: {seconds: 1, source: s, sure: A}, delete: {seconds: 1, source: s, sure: A}}
"""
REFUSAL = """
- name: no-x
  type: toy:a/b:C
  when: {present: x}
  code: X
  text: it is not
  source: s
  evidence: assumed
  date: 2026-11
  trigger: {inputs: {x: 1}}
  neighbour: {inputs: {}}
"""


LOOKUP = """
toy:a/b:listKeys:
  type: toy:a/b:C
  id: "x-{name}"
  answer: {keys: ["{name}"]}
  missing: {text: "{name} is not there", source: s, evidence: assumed}
  source: s
"""


def write(directory, **files):
    for name, text in files.items():
        kind, _, stem = name.partition("_")
        folder = directory / "toy" / kind if stem else directory / "toy"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{stem or kind}.yaml").write_text(text)
    return load_table("toy", directory)


def test_table(tmp_path):
    table = write(tmp_path, types_a=ROW, refusals_a=REFUSAL, scenarios_w="- {name: c, type: 'toy:a/b:C'}")
    assert list(table.types) == ["toy:a/b:C"]
    assert [row.name for row in table.refusals_of("toy:a/b:C", "create")] == ["no-x"]
    assert list(table.refusals_of("toy:a/b:C", "update")) == []
    assert table.scenarios["w"][0].name == "c"


def test_files_in_the_folder_of_a_scenario_follow_it(tmp_path):
    more = tmp_path / "toy" / "scenarios" / "w"
    more.mkdir(parents=True)
    for name in ("b", "a"):
        (more / f"{name}.yaml").write_text(f"- {{name: {name}, type: 'toy:a/b:C'}}")
    table = write(tmp_path, types_a=ROW, scenarios_w="- {name: c, type: 'toy:a/b:C'}")
    assert [resource.name for resource in table.scenarios["w"]] == ["c", "a", "b"]
    (more / "a.yaml").write_text("- {name: a, type: 'toy:a/b:C', colour: red}")
    load_table.cache_clear()
    with pytest.raises(TableError, match=r"a\.yaml: a: colour: Extra inputs"):
        print(load_table("toy", tmp_path).scenarios)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"types_a": ROW + "  colour: red"}, "a.yaml: toy:a/b:C: colour: Extra inputs"),
        ({"types_a": ROW.replace("{hex:3}", "{a..b}")}, "a.yaml: toy:a/b:C: id: path 'a..b': cannot read"),
        ({"types_a": ROW, "types_b": ROW}, "b.yaml: toy:a/b:C: is already in a.yaml"),
        ({"types_a": "- x"}, "a.yaml: must be an object of type rows"),
        ({"types_a": "a: ["}, "a.yaml: is not valid YAML:"),
        (
            {"types_a": ROW + "  implicit_resources: [{type: toy:a/b:D, output: d}]"},
            "a.yaml: toy:a/b:C: names the type 'toy:a/b:D', which has no row",
        ),
        (
            {"types_a": ROW, "refusals_a": REFUSAL.replace("{present: x}", "{resembles: x}")},
            "a.yaml: no-x: when: unknown operator 'resembles'",
        ),
        ({"types_a": ROW, "refusals_a": REFUSAL + REFUSAL}, "a.yaml: no-x: a refusal of this name is already there"),
        ({"types_a": ROW, "refusals_a": REFUSAL.replace("b:C", "b:D")}, "no-x: names the type 'toy:a/b:D'"),
        ({"types_a": ROW, "refusals_a": REFUSAL + "  scenario: mars"}, "no-x: unknown scenario 'mars'"),
        ({"types_a": ROW, "refusals_a": REFUSAL.replace("2026-11", "yesterday")}, "no-x: date: "),
        ({"types_a": ROW, "cloud": "ids: bush"}, "cloud.yaml: toy: ids: Input should be 'flat' or 'tree'"),
        ({"types_a": ROW, "cloud": "colour: red"}, "cloud.yaml: toy: colour: Extra inputs"),
        ({"types_a": ROW, "lookups_a": LOOKUP.replace("b:C", "b:D")}, "listKeys: names the type 'toy:a/b:D'"),
        ({"types_a": ROW, "lookups_a": LOOKUP.replace("{name} is", "{a..b} is")}, "missing.text: path 'a..b'"),
        (
            {"types_a": ROW, "lookups_a": LOOKUP.replace('  id: "x-{name}"\n', "")},
            "listKeys: several: the words for more than one resource",
        ),
        (
            {"types_a": ROW + '  outputs: {a: {$each: "x[*]"}}'},
            "outputs.a: $each stands with $as, and with nothing else",
        ),
        (
            {"types_a": ROW, "refusals_a": REFUSAL.replace("{present: x}", "{not: {exists: {type: toy:a/b:D}}}")},
            "a.yaml: no-x: names the type 'toy:a/b:D', which has no row",
        ),
    ],
)
def test_fault_of_a_table_is_one_line(tmp_path, files, words):
    with pytest.raises(TableError) as error:
        write(tmp_path, **files)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_what_holds_of_a_cloud_and_its_look_ups(tmp_path):
    table = write(tmp_path, types_a=ROW, cloud="{ids: tree, suffix: '{hex:8}'}", lookups_a=LOOKUP)
    assert (table.row.ids, table.row.suffix, table.row.default_tags) == ("tree", "{hex:8}", True)
    assert table.lookups["toy:a/b:listKeys"].id == "x-{name}"


def test_unknown_cloud(tmp_path):
    with pytest.raises(TableError, match="mars: the rehearsal has no table"):
        load_table("mars", tmp_path)


def test_table_of_aws_loads():
    table = load_table("aws")
    assert "aws:eks/nodeGroup:NodeGroup" in table.types
