"""Breadth-first search and its applications: many sources, betweenness, components, distances, paths."""
