"""Each job is paid once, and none is lost, whatever crashes, stands still, is cut off or reset."""

import asyncio

from leased_queue import Client, Queue, work

from ordeal import simulate

FAULTS = [
    *(simulate.crash(longest=3), simulate.pause(longest=5), simulate.partition(longest=5)),
    *(simulate.reset(), simulate.latency(3)),
]


async def queue(queues: list[Queue]) -> None:
    queues.append(Queue())
    await queues[-1].serve()


async def payment(world: simulate.World) -> None:
    queues: list[Queue] = []
    told: list[str] = []
    accepted: list[str] = []
    world.node("queue", queue, queues)
    for number in range(2):
        world.node(f"worker{number}", work, "queue", 1.0, told)

    def paid_once() -> bool:
        return not queues or len(set(queues[-1].paid)) == len(queues[-1].paid)

    def told_the_truth() -> bool:
        return not queues or set(told) <= set(queues[-1].paid)

    world.always("each job is paid once at most", paid_once)
    world.always("no two workers hear that they have done a job", lambda: len(set(told)) == len(told))
    world.always("what a worker hears is paid stays paid", told_the_truth)

    async def put_all() -> None:
        client = Client("queue")
        for number in range(4):
            answer = await client.ask(do="put", job=f"job{number}")
            assert answer["is_there"]
            accepted.append(f"job{number}")
        client.hang_up()

    work_to_do = asyncio.create_task(put_all())
    await asyncio.sleep(15)
    await world.eventually(
        "all jobs are paid",
        lambda: work_to_do.done() and set(accepted) <= set(queues[-1].paid) and len(accepted) == 4,
        within=60,
    )
    await work_to_do


@simulate.test(faults=FAULTS, runs=200)
async def test_payment(world: simulate.World) -> None:
    await payment(world)
