"""Raw bond-graph vertices, joined by the list `bonds`; power runs into I, C and R."""
