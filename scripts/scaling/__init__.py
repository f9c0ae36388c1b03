"""The parts of `bench_scale.py`: a full database, and what is measured in it."""
