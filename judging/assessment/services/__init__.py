"""Can a judge be trusted? Calibration, audits, the verdict, its certificate and the report."""
