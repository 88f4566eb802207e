"""What has no physics: compiled kernels, callable modules, groups, words, garbage collection.

In: functions.  Out: the same functions, compiled or wrapped.
"""
