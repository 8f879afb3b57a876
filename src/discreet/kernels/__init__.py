"""Compiled kernels and their numpy twins; arrays in, arrays out."""
