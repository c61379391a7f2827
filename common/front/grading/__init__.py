"""The grading of a class: what was handed in, the walls around it, one job for each student, and the sheet
(README.md)."""
