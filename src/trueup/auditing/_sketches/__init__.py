"""Sketches of data too large to hold: what an audit needs of it, in a fixed size, to be added up and kept."""
