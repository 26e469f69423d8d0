"""The systems study: real kills, lost writes, several processes and schedules, each against the pure kernel."""
