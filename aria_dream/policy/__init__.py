"""F2: live policy, pure: what the writer's `dreaming.md` and `triggers.md` allow."""
