"""Text as the people who read it were meant to see it: Markdown, code, tables and formulas as safe HTML."""
