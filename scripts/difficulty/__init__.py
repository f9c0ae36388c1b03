"""Parts of bench_difficulty.py."""
