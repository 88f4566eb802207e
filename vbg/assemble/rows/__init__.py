"""Which constraint rows are independent: from the rows themselves, no mass enters."""
