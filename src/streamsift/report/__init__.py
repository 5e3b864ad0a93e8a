"""Runs and comparisons as one self-contained HTML page each (layer L7).

data      summarize.py (a trace as a plain dict), grid.py, lists.py, record.py (decisions on columns)
charts    chart.py (what a chart is), figures.py, quality.py, pictures.py
pages     run.py, comparison.py, decisions.py, purchases.py, reproduction.py, verdicts.py
HTML      page.py with templates/; numbers.py writes numbers for people
"""
