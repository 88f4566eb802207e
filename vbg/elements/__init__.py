"""Parts that store, dissipate and supply energy: one class in one file each."""
