"""Pure measures of loss and risk."""
