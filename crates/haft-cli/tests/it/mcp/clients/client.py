"""Does with a server what a program on the official Python client does, and prints what came of it as one JSON object."""

import json
import os
import signal
import sys
from pathlib import Path

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters

mode, scenario, *server = sys.argv[1:]


def connect(**options):
    parameters = StdioServerParameters(command=server[0], args=server[1:], env=dict(os.environ))
    info = types.Implementation(name="python-tests", version="2.3.0")
    return Client(parameters, mode=mode, client_info=info, **options)


def plain(result):
    texts = [block.text for block in result.content if block.type == "text"]
    links = [str(block.uri) for block in result.content if block.type == "resource_link"]
    return {"error": bool(result.is_error), "text": "\n".join(texts), "links": links}


def processes(mark):
    """The processes with this in their command line, but this one and the server."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if entry.name.isdigit() and mark.encode() in line and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


async def until(condition):
    with anyio.fail_after(60):
        while not condition():
            await anyio.sleep(0.01)


async def call(client, name, **arguments):
    return plain(await client.call_tool(name, arguments))


async def work():
    async with connect() as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        edit = {"action": "edit", "path": "models/query.py", "old": "class QuerySet(", "new": "class AnswerSet("}
        return {
            "version": client.protocol_version,
            "tools": tools,
            "list": await call(client, "reader", action="list_dir", path="models"),
            "grep": await call(client, "search", action="grep", pattern=r"^class QuerySet\("),
            "unread": await call(client, "editor", **edit),
            "read": await call(client, "reader", action="read", path="models/query.py", offset=270, limit=60),
            "edit": await call(client, "editor", **edit),
            "run": await call(client, "bash", command="grep -c . models/query.py"),
            "wrong": await call(client, "reader", action="read", path="models/no_such.py"),
        }


async def stop():
    async with connect() as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "bash", {"command": "sleep 300.70711"})
            await until(lambda: processes("300.70711"))
            tasks.cancel_scope.cancel()
        await until(lambda: not processes("300.70711"))
        late = None
        try:
            await client.call_tool("bash", {"command": "sleep 300.70712"}, read_timeout_seconds=2)
        except MCPError as error:
            late = str(error)
        await until(lambda: not processes("300.70712"))
        return {"late": late, "after": await call(client, "bash", command="echo still there")}


async def progress():
    reports = []

    async def hear(done, total, message):
        reports.append([done, message])

    async with connect() as client:
        slow = {"command": "sleep 5.5; echo done"}
        result = await client.call_tool("bash", slow, progress_callback=hear)
        return {"reports": reports, "result": plain(result)}


async def much():
    async with connect() as client:
        made = await call(client, "bash", command="head -c 9000000 /dev/zero | tr '\\0' '\\377'")
        contents = [(await client.read_resource(uri)).contents[0] for uri in made["links"]]
        return {"links": made["links"], "blobs": [[len(it.blob), it.blob[:4]] for it in contents]}


async def parallel():
    answers = {}

    async with connect() as client:

        async def one(number):
            answers[number] = await call(client, "bash", command=f"sleep 0.{16 - number:02}; echo n{number}")

        async with anyio.create_task_group() as tasks:
            for number in range(16):
                tasks.start_soon(one, number)
    return {"answers": [answers[number]["text"] for number in range(16)]}


async def ask():
    replies = {
        "yes": types.ElicitResult(action="accept", content={"allow": True}),
        "unticked": types.ElicitResult(action="accept", content={"allow": False}),
        "no": types.ElicitResult(action="decline"),
        "cancelled": types.ElicitResult(action="cancel"),
        "failed": types.ErrorData(code=-32603, message="no window"),
    }
    found = {"questions": []}
    for name, reply in replies.items():

        async def answer(_, params, reply=reply):
            found["questions"].append(params.message)
            return reply

        async with connect(elicitation_callback=answer) as client:
            try:
                found[name] = await call(client, "bash", command=f"echo {name} > {name}.txt")
            except MCPError as error:
                found[name] = {"error": True, "text": str(error), "links": []}
    async with connect() as client:
        found["nobody"] = await call(client, "bash", command="echo nobody > nobody.txt")
    return found


async def hang():
    async with connect() as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "bash", {"command": "sleep 300.70713"})
            await until(lambda: processes("300.70713"))
            print("begun", flush=True)
            await anyio.sleep_forever()


async def lose():
    found = {}
    async with connect() as client:

        async def begin():
            try:
                found["result"] = await call(client, "bash", command="sleep 300.70714")
            except MCPError as error:
                found["error"] = str(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(begin)
            await until(lambda: processes("300.70714"))
            for process in Path("/proc").iterdir():
                if not process.name.isdigit():
                    continue
                try:
                    parent = (process / "stat").read_text().rsplit(")")[-1].split()[1]
                except OSError:
                    continue
                if int(parent) == os.getpid():
                    os.kill(int(process.name), signal.SIGKILL)
    await until(lambda: not processes("300.70714"))
    async with connect() as client:
        found["next"] = await call(client, "bash", command="echo again")
    return found


result = anyio.run(globals()[scenario])
print(json.dumps(result), flush=True)
