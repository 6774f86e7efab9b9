"""A small server that speaks the protocol of Redis: strings, lists, blocking pops and transactions."""

import asyncio


async def _read(reader):
    count = int((await reader.readuntil(b"\r\n"))[1:])
    parts = []
    for _ in range(count):
        size = int((await reader.readuntil(b"\r\n"))[1:])
        parts.append((await reader.readexactly(size + 2))[:-2])
    return parts[0].upper().decode(), parts[1:]


def _encoded(value):
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, str):
        return f"+{value}\r\n".encode()
    if isinstance(value, int):
        return f":{value}\r\n".encode()
    if isinstance(value, bytes):
        return b"$%d\r\n%s\r\n" % (len(value), value)
    return b"*%d\r\n" % len(value) + b"".join(map(_encoded, value))


async def serve():
    strings, lists = {}, {}
    pushed = asyncio.Condition()

    async def do(name, arguments):
        if name == "SET":
            strings[arguments[0]] = arguments[1]
            return "OK"
        if name == "GET":
            return strings.get(arguments[0])
        if name == "INCRBY":
            strings[arguments[0]] = b"%d" % (int(strings.get(arguments[0], 0)) + int(arguments[1]))
            return int(strings[arguments[0]])
        if name == "RPUSH":
            async with pushed:
                lists.setdefault(arguments[0], []).extend(arguments[1:])
                pushed.notify_all()
            return len(lists[arguments[0]])
        if name == "BLPOP":
            key = arguments[0]
            try:
                async with asyncio.timeout(float(arguments[-1]) or None), pushed:
                    await pushed.wait_for(lambda: lists.get(key))
                    return [key, lists[key].pop(0)]
            except TimeoutError:
                return None
        return "OK"

    async def answer(reader, writer):
        queued = None
        try:
            while True:
                name, arguments = await _read(reader)
                if name == "MULTI":
                    queued, reply = [], "OK"
                elif name == "EXEC":
                    reply, queued = [await do(*each) for each in queued], None
                elif queued is not None:
                    queued.append((name, arguments))
                    reply = "QUEUED"
                else:
                    reply = await do(name, arguments)
                writer.write(_encoded(reply))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, port=6379)
    await server.serve_forever()
