"""From the bytes of a reply to an Answer.

    bytes -> sse (events of the wire) -> chat (what they mean) -> assembly (our events, the answer)
          -> stream (the caller's iterator)

A one-shot reply is unfolded into the payloads that would have streamed it and takes the same way,
so that the two cannot drift apart. All but `stream` is pure.
"""
