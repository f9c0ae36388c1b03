"""Statistics that hold a judge to what people said. Imports ``annotation.stats``, never the site."""
