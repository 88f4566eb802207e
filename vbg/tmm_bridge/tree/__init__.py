"""The spanning tree: joints as series of elementary hinges, which carry bodies and which are
cut.

In: bodies and joints of the Model.  Out: the tree, its hinges and its cuts.
"""
