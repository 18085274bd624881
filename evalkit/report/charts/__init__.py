"""What does a page draw? Each chart is a function of a board that gives one SVG, or nothing where there is none.

Drawings carry classes only, never colours: a page's style sheet has them, for light and for dark.
"""
