"""Wrong input on purpose: files, texts and arrays that nobody would write. `python -m benchmarks.fuzz`."""
