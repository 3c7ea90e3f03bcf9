"""The smallest program around the decoder: bytes in, events out. Run it from the root of the repository."""

import tokwire

decoder = tokwire.StreamDecoder("openai-chat")
with open("examples/recordings/openai-chat/tools-parallel.sse", "rb") as body:
    while decoder.state is tokwire.StreamState.OPEN:
        if chunk := body.read(64):  # as well from a socket, an HTTP client, a test
            decoder.receive_data(chunk)
        else:
            decoder.receive_eof()
        for event in decoder.events():
            match event:
                case tokwire.Block(tokwire.TextBlock(text)):
                    print(text)
                case tokwire.Block(tokwire.ToolUseBlock(_, name, arguments)):
                    print("call", name, "with", arguments)
print("finished:", decoder.summary.finish_reason)
