"""F1: Markdown ⇄ values, pure. Nothing here touches the disk."""
