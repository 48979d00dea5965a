"""The report as JUnit XML: a suite for each stack, a case for each finding. A case fails if it rejects the stack."""

import re
from xml.etree import ElementTree

from gpufleet.report.model import Issue, Report, StackReport

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def render_junit(report: Report) -> str:
    """Rejecting findings are failures; warnings pass with output; unverified or suppressed findings are skipped."""
    root = ElementTree.Element("testsuites", name="gpufleet report")
    for stack in report.stacks:
        root.append(_suite(stack))
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(stack: StackReport) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=stack.name)
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (("verdict", stack.verdict), ("checks_passed", str(stack.checks_passed))):
        ElementTree.SubElement(properties, "property", name=name, value=value)
    preview = ElementTree.SubElement(suite, "testcase", classname=stack.name, name="preview")
    if stack.verdict == "failed":
        ElementTree.SubElement(preview, "failure", message="the preview ended with an error", type="preview")
    cases = [_case(stack, issue) for issue in stack.issues]
    suite.extend(cases)
    failed = [case for case in (preview, *cases) if case.find("failure") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    counts = {"tests": 1 + len(cases), "failures": len(failed), "errors": 0, "skipped": len(skipped)}
    for name, number in counts.items():
        suite.set(name, str(number))
    return suite


def _case(stack: StackReport, issue: Issue) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", classname=f"{stack.name}.{issue.rule}", name=_clean(issue.resource or "stack")
    )
    line = _clean(issue.line)
    if issue.suppressed is not None:
        said = f"suppressed until {issue.suppressed.until}: {issue.suppressed.reason}"
        ElementTree.SubElement(case, "skipped", message=_clean(said)).text = line
    elif issue.rejects:
        failure = ElementTree.SubElement(case, "failure", message=line, type=issue.severity)
        failure.text = _clean(f"{issue.line}\n{issue.urn}")
    elif issue.status == "unverified":
        ElementTree.SubElement(case, "skipped", message=line)
    else:
        ElementTree.SubElement(case, "system-out").text = f"{issue.severity}: {line}"
    return case


def _clean(text: str) -> str:
    """A text without the control characters that XML cannot hold."""
    return _CONTROL.sub("", text)
