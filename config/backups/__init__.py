"""The whole site in one file, which restores on another machine and another database."""
