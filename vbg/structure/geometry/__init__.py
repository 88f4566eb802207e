"""Exceptions to the count that geometry makes: ranks, singularities, linkages with a name.

In: a Linkage with a posture.  Out: findings.
"""
