"""Charts: what is in one (``model``), and the renderers: terminal, SVG and PNG."""
