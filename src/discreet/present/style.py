"""The look of pages: readable type, enough contrast, prints on paper, no fonts or scripts from elsewhere."""

STYLE = """
:root { color-scheme: light; --ink: #1b1b1f; --soft: #55555f; --line: #d7d7dc; --tint: #f4f4f7; --warn: #8a5a00; }
* { box-sizing: border-box; }
body { font: 17px/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: #fff; margin: 0; }
main { max-width: 48rem; margin: 0 auto; padding: 2.5rem 1.2rem 4rem; }
h1 { font-size: 2rem; line-height: 1.15; margin: 0 0 .6rem; } h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; }
.lead { font-size: 1.15rem; color: var(--soft); margin: 0; }
.rows { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; min-width: min(100%, 26rem); font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th.n, td.n { text-align: right; padding-right: 0; padding-left: .9rem; }
table.first tbody tr:first-child td { font-weight: 600; }
figure { margin: 1.4rem 0; } .drawn { overflow-x: auto; } .drawn svg { max-width: 100%; min-width: 30rem; height: auto; }
figcaption { color: var(--soft); font-size: .88rem; line-height: 1.45; }
code { background: var(--tint); padding: .1rem .35rem; border-radius: 3px; overflow-wrap: anywhere; font-size: .9em; }
.note { border-left: 4px solid var(--warn); padding-left: .9rem; }
footer { color: var(--soft); font-size: .88rem; margin-top: 3rem; border-top: 1px solid var(--line); }
@media print { .drawn svg { min-width: 0; } h2, thead { break-after: avoid; } tr, figure { break-inside: avoid; }
  main { max-width: none; padding: 0; } body { font-size: 11pt; } }
"""
