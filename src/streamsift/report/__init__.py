"""From a trace to one self-contained HTML page: summarize.py (data), figures.py (charts), page.py (HTML) (layer L7)."""
