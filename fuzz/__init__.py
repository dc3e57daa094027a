"""Fuzzing: bytes that no reader of answers can bear."""
