"""What judges said elsewhere, as finished runs; and the imports that bring people's labels and judges' together."""
