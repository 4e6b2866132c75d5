"""Sweeps: many models × languages × data sets, cut into tasks that run on this machine or as Slurm
job arrays.
"""
