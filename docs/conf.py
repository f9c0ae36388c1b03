"""How `make docs` builds these pages. A link that leads nowhere is a warning, and warnings are errors there."""

project = "Concord"
extensions = ["myst_parser"]
myst_heading_anchors = 4
root_doc = "index"
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "People and judges rate the same things"}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
