"""One study with all that it rests on in one file, which restores beside the studies of another site."""
