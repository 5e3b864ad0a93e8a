"""One road for three kinds of stream: a method is led over its stream step by step, and the steps are recorded.

run.py          what was run (Run), and what the loops have in common (Step, RunResult, Loop)
rows.py         the loop over a stream of rows            row_trace.py   its record
columns.py      the loop over a stream of columns         column_trace.py
instances.py    the loop over instances
lead.py         the loop of a kind, led from the first step to the last and recorded
sharing.py      the loop over partitions of a topic that several processes share     claims.py   their checkpoints
trace.py        the record of a run, of whatever kind     trace_writer.py
"""
