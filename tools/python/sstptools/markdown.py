# SPDX-License-Identifier: GPL-2.0
"""Markdown, for the reports that tools write."""


def markdown_table(rows):
    """A table, whose first row has the heads; its columns are aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |"
             for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines) + "\n"
