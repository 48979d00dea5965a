"""Sphinx's configuration. Nothing in a page comes from the net, and it reads from a folder as from a web server."""

from importlib import metadata
from pathlib import Path

project = "gpufleet"
release = metadata.version("gpufleet")
copyright = "the authors of gpufleet, Apache-2.0"
extensions = ["myst_parser", "sphinx_copybutton", "sphinx_inline_tabs"]
root_doc = "README"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))
html_title = f"gpufleet {release}"
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
# Anchors of headings as code hosts make them.
myst_heading_anchors = 4
highlight_language = "text"
pygments_dark_style = "github-dark"
# A guide shows excerpts: a lexer that does not know one shows it plainly.
suppress_warnings = ["misc.highlighting_failure"]
