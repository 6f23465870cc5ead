"""Sphinx: the reference of what users call, from the docstrings."""

from importlib.metadata import version as installed_version

project = "trueup"
author = "The trueup developers"
version = release = installed_version("trueup")
extensions = ["sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["decisions"]
autodoc_typehints = "none"  # numpydoc's sections say it in words
numpydoc_show_class_members = False
html_theme = "alabaster"
html_theme_options = {"description": "Probabilities that are true in every segment", "page_width": "1000px"}
html_show_sourcelink = False
