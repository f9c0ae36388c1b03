"""Results of an experiment in plain Python, from its exported rows: no code of the product's statistics is used."""
