"""The parts of `bench_annotate.py`: the study, the web server with its meter, and the people."""
