"""MS-DT-TMM: steps that make every element linear in displacements, solved by transfer.

In: a Mechanism and its start.  Out: postures at equal steps of time.
"""
