"""Material from outside into the corpus. Importing the same thing twice changes nothing, and the counts say so."""
