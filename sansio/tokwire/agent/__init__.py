"""The agent layer, pure like the core: options, requests, tools, hooks, retry, history and the turn loop."""
