"""Faults on purpose: processes that are killed, files that are damaged, disks that are full. `python -m benchmarks.faults`."""
