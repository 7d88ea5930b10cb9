"""Exact rationals, e^x and logarithms bracketed from both sides, log-space sums.

Floating point may propose; what is proved is proved with the rationals of `exact`, the brackets of `brackets`
or the outward rounding of `outward`. Each room is imported by name, so that none costs what it does not use.
"""
