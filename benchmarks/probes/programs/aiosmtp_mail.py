"""aiosmtpd takes mails from two clients of aiosmtplib."""

import asyncio
from email.message import EmailMessage
from types import SimpleNamespace

import aiosmtplib
from aiosmtpd.smtp import SMTP


async def main(world):
    mails = []

    async def take(_server, _session, envelope):
        mails.append(envelope.content)
        return "250 OK"

    box = SimpleNamespace(handle_DATA=take)

    async def serve():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: SMTP(box, hostname="mail", loop=loop), port=25)
        await server.serve_forever()

    world.node("mail", serve)
    await asyncio.sleep(10)

    async def send(number):
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", f"mail {number}"
        message.set_content(f"text {number}\n" * 100)
        await aiosmtplib.send(message, hostname="mail", port=25, start_tls=False)

    await asyncio.gather(send(1), send(2))
    assert len(mails) == 2
