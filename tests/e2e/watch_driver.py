"""A watcher in a process of its own: `python watch_driver.py VAULT STATE CACHE DEBOUNCE_MS POLL_S`.

Prints one JSON object a line: `{"ready": …}`, then each change as it is told. Each line on its stdin is answered with
the whole index; the end of stdin ends it.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import deque
from pathlib import Path

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.watch.watcher import VaultWatcher


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main(root: Path, state: Path, cache: Path, debounce_ms: float, poll_s: float) -> None:
    asked: deque[str] = deque()
    places = Places(state=state, cache=cache)
    with VaultWatcher(root, places, state_folder=state, index_debounce_ms=debounce_ms, poll_s=poll_s) as watcher:

        def listen() -> None:
            for line in sys.stdin:
                asked.append(line)
                watcher.call()
            asked.append("")
            watcher.call()

        threading.Thread(target=listen, daemon=True).start()
        _say(ready=watcher.report.mode.value, why=watcher.report.why)
        while True:
            change = watcher.wait(600)
            if change is not None:
                _say(created=change.created, edited=change.edited, removed=change.removed, renamed=change.renamed,
                     own=change.own, foreign=change.foreign)  # fmt: skip
            while asked:
                if not asked.popleft():
                    return
                linkage = watcher.index.linkage
                known = zip(watcher.index.contents, linkage.sources, strict=True)
                _say(index={linkage.files[file]: content.digest.hex() for content, file in known},
                     files=watcher.index.files, news=watcher.has_news, why=watcher.report.why)  # fmt: skip


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]), *map(float, sys.argv[4:6]))  # type: ignore[arg-type]  # three paths, two numbers
