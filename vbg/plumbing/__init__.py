"""What has no physics: compiled kernels and their cache, callable modules, garbage collection.

In: functions.  Out: the same functions, compiled or wrapped.
"""
