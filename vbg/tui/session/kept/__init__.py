"""What the terminal interface keeps on disk: the document, its journal, files, settings."""
