"""Geometry: the theory of private information design as objects.

Beliefs and hypers, the polytopes K, K_Ω and PK with their extreme points, concavification, whether adding noise is
optimal, and the orders between information structures. Each room is imported by name.
"""
