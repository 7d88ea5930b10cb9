"""`discreet ledger …`: the budget, its history, its keys, and the heads that show whether it was changed."""

from __future__ import annotations

import typer

from discreet.cli.bookkeeping import budgets, heads, keys, records

group = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Keep the budget: make, show, verify, export a ledger.",
)
group.command("init")(budgets.init)
group.command("show")(records.history)
group.command("remaining")(budgets.remaining)
group.command("approve")(budgets.approve)
group.command("verify")(records.check)
group.command("export")(records.export)
group.command("backup")(records.keep)
group.command("restore")(records.bring_back)
group.command("heads")(heads.heads)
group.command("head")(heads.head)
group.command("key")(keys.key)
group.command("rotate")(keys.rotate)
group.command("revoke")(keys.revoke)
