"""Files of rows, whatever they are written as: each row as a mapping of column to value, with its line.

`layout` finds how a file is laid out, `reading` reads it so; the other modules know one family of files each.
"""
