"""One verdict on one or more previews: what a pull request costs, replaces, breaks, and may not do.

`read_previews` reads what the engine has said, `report` judges it, and each writer (`as_json`, `as_markdown`,
`as_junit`, `as_sarif`, `as_svg`, `as_html`) turns the same `Report` into one form. Imports neither Pulumi nor a cloud
SDK.
"""
