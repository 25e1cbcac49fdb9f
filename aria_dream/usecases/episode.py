"""A stage as the daemon's child, `python -P -m aria_dream.usecases.episode VAULT --kind "idle dream"`..

It imports no command. Every step needs the parent's permit (`adapters/child/permit`). Its report holds ids and counts,
no note text, no title.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.child.permit import AskingReacher, AskingRootedVault, AskingVault, Permit, protocol_streams
from aria_dream.adapters.disk.write_probe import CHILD
from aria_dream.adapters.state.rotating_log import cause_of
from aria_dream.errors import AriaDreamError
from aria_dream.policy.triggers import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from aria_dream.adapters.child.episode_process import Order
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.usecases.reach import Means

REFUSALS = ("no reach: ", "nothing was sent: ", "the reach rests until ")
"""How a reach begins to say that budget, policy, confirmation or plan held it back."""


def main(words: Sequence[str] | None = None) -> None:
    """Does one stage for the daemon, or carries out what was ticked, and ends the process where that fails."""
    told = _arguments().parse_args(words)
    vault, quiet_s, host = told.vault, told.quiet_s, told.host
    out, answers = protocol_streams()
    permit = Permit(out, answers)
    permit("start")
    try:
        if told.ticks:
            found = {"reaches": _finish_reaches(vault, permit, quiet_s, host), **_ticks(vault, permit, quiet_s)}
        elif told.stage == "consolidate":
            found = _consolidate(vault, permit, quiet_s, told.night)
        elif told.stage == "synthesize":
            found = _synthesize(vault, permit)
        elif told.stage == "reach":
            found = _reach(vault, permit, quiet_s, host)
        else:
            found = _dream(vault, permit, told.kind, quiet_s, host)
        permit.say({"result": found})
    except AriaDreamError as error:
        permit.say({"failed": {"error": str(error)}})
        sys.exit(error.exit_code)
    except Exception as error:  # noqa: BLE001 - told to the parent, without words that could be a note's
        permit.say({"failed": {"error": cause_of(error)}})
        sys.exit(1)


def _arguments() -> argparse.ArgumentParser:
    """What `child_command` writes."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--kind", default="idle dream", help="As the heading in the log names it.")
    parser.add_argument("--quiet-s", type=float, default=0.0, help="Leave a note alone that was touched so recently.")
    parser.add_argument("--host", default="", help="The machine that a new dream note belongs to.")
    parser.add_argument("--ticks", action="store_true", help="Carry out what was ticked instead of dreaming.")
    parser.add_argument("--stage", choices=[stage.value for stage in Stage], default="dream")
    parser.add_argument("--night", default="", help="Local date of the night whose work it is.")
    return parser


def child_command(order: Order) -> list[str]:
    """The command line of the child that carries the order out."""
    # -P: the folder that we were started in, which may be the vault, is no place to import from.
    return [
        sys.executable, "-P", "-m", CHILD, str(order.root), "--kind", order.kind, "--quiet-s", f"{order.quiet_s:g}",
        "--host", order.host, "--stage", order.stage.value,
        *(["--night", order.night.isoformat()] if order.night else []),
        *(["--ticks"] if order.errand == "ticks" else []),
    ]  # fmt: skip


def _ticks(root: Path, permit: Permit, quiet_s: float) -> dict[str, object]:
    """How many ticks were carried out, by what became of them."""
    from dataclasses import replace

    from aria_dream.usecases.review_run import settle_all
    from aria_dream.usecases.review_session import Settlement

    done = Settlement()
    settle_all(root, done, adapted=lambda one: replace(one, quiet_s=quiet_s, files=AskingVault(one.files, permit)))
    counts = (
        "applied", "rejected", "undone", "asked", "stale", "expired", "superseded", "waiting", "ignored", "unwritten"
    )  # fmt: skip
    return {name: len(getattr(done, name)) for name in counts}


def _dream(root: Path, permit: Permit, kind: str, quiet_s: float, host: str) -> dict[str, object]:
    from aria_dream.adapters.disk.places import find_places
    from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
    from aria_dream.adapters.state.record_store import RecordStore
    from aria_dream.policy.settings import local_now
    from aria_dream.usecases.dream import DreamRequest
    from aria_dream.usecases.dream_run import SEEDS, run_dream

    def step(_done: int, _total: int) -> None:
        permit("reading")

    places = find_places()
    vault = read_dreamt_vault(root, places, progress=step)
    request = DreamRequest(
        at=local_now(datetime.now().astimezone(), vault.live.policy.settings.timezone),
        seed=secrets.randbelow(SEEDS),
        kind=kind,
        quiet_s=quiet_s,
        host=host,
    )
    result, missing = run_dream(
        vault, places, RecordStore(vault.live.state_folder(places)), request,
        show=lambda _label: nullcontext(step), adapted=lambda files: AskingVault(files, permit),
    )  # fmt: skip
    return {
        "episode": result.record.id if result.written and result.record is not None else "",
        "note": result.note if result.written else "",
        "pairs": len(result.block.pairs) if result.written and result.block is not None else 0,
        "reason": result.reason.partition(":")[0],  # behind the colon stand titles
        "missing": list(missing),
    }


def _reach_means(root: Path, permit: Permit) -> tuple[DreamtVault, Means]:
    """The vault as it is now, and what a reach is made with. Nobody is asked anything: what needs a person's
    confirmation waits for a person."""
    from aria_dream.adapters.disk.files import DiskVault
    from aria_dream.adapters.disk.places import find_places
    from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
    from aria_dream.usecases.reach_course import open_means, open_reacher

    places = find_places()
    vault = read_dreamt_vault(root, places, progress=lambda _done, _total: permit("reading"))
    files = AskingVault(DiskVault(vault.root, vault.live.state_folder(places)), permit)
    files.recover()
    reacher = AskingReacher(open_reacher(vault, places), permit)
    return vault, open_means(root, places, vault, files=files, reacher=reacher, confirm=lambda _destination: False)


def _finish_reaches(root: Path, permit: Permit, quiet_s: float, host: str) -> int:
    """How many reaches were brought home that stood in no dream note yet."""
    from aria_dream.adapters.disk.places import find_places
    from aria_dream.adapters.gate.ledger import ReachStore
    from aria_dream.adapters.index.live_policy import read_live_policy
    from aria_dream.errors import BusyError
    from aria_dream.policy.settings import local_now
    from aria_dream.reach.reach_record import find_unfinished
    from aria_dream.usecases.reach import ReachRequest, finish_reaches

    places = find_places()
    live = read_live_policy(root, places)
    store = ReachStore(live.state_folder(places))
    before = len(find_unfinished(store.reaches()[0]))
    if not before:
        return 0
    request = ReachRequest(
        at=local_now(datetime.now().astimezone(), live.policy.settings.timezone),
        kind="internal", by_itself=True, quiet_s=quiet_s, host=host,
    )  # fmt: skip
    try:
        finish_reaches(request, _reach_means(root, permit)[1])
    except BusyError:  # one is under way, and finishes them itself
        return 0
    return before - len(find_unfinished(store.reaches()[0]))


def _reach(root: Path, permit: Permit, quiet_s: float, host: str) -> dict[str, object]:
    """One reach by itself: on the oldest open seed, else on the best pair of the last dream."""
    from aria_dream.policy.settings import local_now
    from aria_dream.usecases.reach import ReachRequest, has_seed, reach_once

    vault, means = _reach_means(root, permit)
    request = ReachRequest(
        at=local_now(datetime.now().astimezone(), vault.live.policy.settings.timezone),
        kind="external" if has_seed(vault, means) else "internal",
        by_itself=True,
        quiet_s=quiet_s,
        host=host,
    )
    result = reach_once(request, means)
    if result.resolution == "unsent":
        said = "no reach: nobody could be asked, and nothing was sent"
    elif result.resolution is not None:
        said = f"a reach was made, with the outcome {result.resolution}"
        said += ", and its block waits for a dream note that takes it" if result.waits else ""
    else:  # behind another colon stand titles
        said = result.reason if result.reason.startswith(REFUSALS) else result.reason.partition(":")[0]
    return {"reach": result.reach_id, "note": result.note, "reason": said or "no reach was made"}


def _consolidate(root: Path, permit: Permit, quiet_s: float, night: str) -> dict[str, object]:
    """The night's consolidation, gone on with where it was cut off; its report, where that is still to be written."""
    from datetime import date

    from aria_dream.usecases.consolidation_run import ConsolidationRun, run_consolidation

    found = run_consolidation(
        root,
        ConsolidationRun(
            resume="night",
            night=date.fromisoformat(night) if night else None,
            quiet_s=quiet_s,
            permit=permit,
        ),
    )
    made = len(found.result.made)
    said = found.result.reason or ("nothing new was found" if not made else "the night's work is done")
    return {"proposals": made, "reason": said, "missing": list(found.missing)}


def _synthesize(root: Path, permit: Permit) -> dict[str, object]:
    from aria_dream.adapters.disk.files import DiskVault
    from aria_dream.adapters.disk.places import find_places
    from aria_dream.adapters.index.live_policy import read_live_policy
    from aria_dream.adapters.models.embedding import load_embedder
    from aria_dream.adapters.state.memory_folder import NoMemory
    from aria_dream.policy.settings import local_now
    from aria_dream.synthesis.contract import render_verdict
    from aria_dream.usecases.synthesis import SynthesisRequest, run_synthesis, synthesis_lock

    places = find_places()
    live = read_live_policy(root, places)
    state = live.state_folder(places)
    at = local_now(datetime.now().astimezone(), live.policy.settings.timezone)
    files = AskingRootedVault(DiskVault(root, state), permit)
    embedder = load_embedder()

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        permit("reading")
        return embedder.encode(texts)

    request = SynthesisRequest(at=at, occasion="nightly")
    result = run_synthesis(files, synthesis_lock(state), live.policy, request, encode)
    if isinstance(result, NoMemory):
        return {"reason": "no memory folder, so nothing was learnt"}
    if not result.verdict.passed:
        raise AriaDreamError(render_verdict(result.verdict))
    lessons = len(result.synthesis.lessons)
    return {"reason": f"{lessons} lessons were learnt" if lessons != 1 else "one lesson was learnt"}


if __name__ == "__main__":
    main()
