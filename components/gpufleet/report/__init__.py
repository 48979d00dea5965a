"""One report on one or more previews: what a pull request costs, replaces, breaks, and violates.

`load_previews.read_preview` reads the engine's output, `build.build_report` checks it, and each module in `formats`
renders the same `Report`. Imports neither Pulumi nor a cloud SDK.
"""
