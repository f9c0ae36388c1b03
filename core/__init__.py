"""What stands below every app: errors, hashes, files, addresses. It knows no study, no judge and no page."""
