"""Widgets and screens. They decide nothing about GPUs."""
