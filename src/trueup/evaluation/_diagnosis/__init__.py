"""The diagnosis: what is wrong with the rows before anything is fitted on them."""
