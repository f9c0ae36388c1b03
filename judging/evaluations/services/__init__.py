"""Models evaluated on a benchmark: cases chosen, runs started, results computed, wrong answers tagged."""
