"""What a finished run tells: channels, energies and residuals, what is unique in them."""
