"""Grading a class: what was handed in, the walls around it, one job a student, and the sheet of all. README.md says how."""
