"""Tables that discreet generates: a census for demonstrations, synthetic tables as the papers use them."""
