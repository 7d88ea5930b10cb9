"""One picture in each file: data in, a Vega-Lite specification and its alt text out."""
