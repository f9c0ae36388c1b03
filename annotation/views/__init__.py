"""Pages. Each returns the whole page; a part of it where a script asks for that."""
