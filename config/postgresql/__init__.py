"""Django's PostgreSQL backend with a check of idle connections that costs no statement, and prepared statements."""
