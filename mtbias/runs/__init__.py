"""The folder of a run: its manifest, its files, written so that a run stopped at any moment can
resume.
"""
