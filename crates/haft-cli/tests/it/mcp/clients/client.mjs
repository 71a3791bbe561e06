// Does with a server what a program on the official TypeScript client does, and prints what came of it as one JSON object.

import fs from "node:fs";

const [sdk, scenario, command, ...args] = process.argv.slice(2);
const { Client } = await import(`${sdk}/dist/esm/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/dist/esm/client/stdio.js`);
const { ElicitRequestSchema } = await import(`${sdk}/dist/esm/types.js`);

async function connect(reply) {
  const capabilities = reply ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: "typescript-tests", version: "1.32.2" }, { capabilities });
  if (reply) client.setRequestHandler(ElicitRequestSchema, reply);
  const maxBufferSize = 64 * 1024 * 1024;
  const transport = new StdioClientTransport({ command, args, env: process.env, maxBufferSize });
  await client.connect(transport);
  return client;
}

async function connected(work, reply) {
  const client = await connect(reply);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

function plain(result) {
  const texts = result.content.filter((it) => it.type === "text").map((it) => it.text);
  const links = result.content.filter((it) => it.type === "resource_link").map((it) => it.uri);
  return { error: Boolean(result.isError), text: texts.join("\n"), links };
}

async function call(client, name, arguments_, options) {
  return plain(await client.callTool({ name, arguments: arguments_ }, undefined, options));
}

// The processes with this in their command line.
function processes(mark) {
  return fs.readdirSync("/proc").filter((name) => {
    try {
      const line = fs.readFileSync(`/proc/${name}/cmdline`, "utf8");
      return /^\d+$/.test(name) && line.includes(mark) && Number(name) !== process.pid;
    } catch {
      return false;
    }
  });
}

async function until(condition) {
  const end = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error("it never came to that");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const scenarios = {
  work: () =>
    connected(async (client) => {
      const edit = { action: "edit", path: "models/query.py", old: "class QuerySet(", new: "class AnswerSet(" };
      return {
        tools: (await client.listTools()).tools.map((it) => it.name),
        list: await call(client, "reader", { action: "list_dir", path: "models" }),
        grep: await call(client, "search", { action: "grep", pattern: "^class QuerySet\\(" }),
        unread: await call(client, "editor", edit),
        read: await call(client, "reader", { action: "read", path: "models/query.py", offset: 270, limit: 60 }),
        edit: await call(client, "editor", edit),
        run: await call(client, "bash", { command: "grep -c . models/query.py" }),
        wrong: await call(client, "reader", { action: "read", path: "models/no_such.py" }),
      };
    }),

  stop: () =>
    connected(async (client) => {
      const controller = new AbortController();
      const signal = controller.signal;
      const slow = call(client, "bash", { command: "sleep 300.70711" }, { signal });
      slow.catch(() => {});
      await until(() => processes("300.70711").length > 0);
      controller.abort("enough");
      await until(() => processes("300.70711").length === 0);
      const late = await call(client, "bash", { command: "sleep 300.70712" }, { timeout: 2_000 }).catch(String);
      await until(() => processes("300.70712").length === 0);
      return { late, after: await call(client, "bash", { command: "echo still there" }) };
    }),

  progress: () =>
    connected(async (client) => {
      const reports = [];
      const onprogress = ({ progress, message }) => reports.push([progress, message]);
      const result = await call(client, "bash", { command: "sleep 5.5; echo done" }, { onprogress });
      return { reports, result };
    }),

  much: () =>
    connected(async (client) => {
      const command = "head -c 9000000 /dev/zero | tr '\\0' '\\377'";
      const { links } = await call(client, "bash", { command });
      const blobs = [];
      for (const uri of links) blobs.push((await client.readResource({ uri })).contents[0].blob);
      return { links, blobs: blobs.map((it) => [it.length, it.slice(0, 4)]) };
    }),

  parallel: () =>
    connected(async (client) => {
      const numbers = [...Array(16).keys()];
      const command = (number) => `sleep 0.${String(16 - number).padStart(2, "0")}; echo n${number}`;
      const answers = numbers.map((number) => call(client, "bash", { command: command(number) }));
      return { answers: (await Promise.all(answers)).map((it) => it.text) };
    }),

  ask: async () => {
    const replies = {
      yes: { action: "accept", content: { allow: true } },
      unticked: { action: "accept", content: { allow: false } },
      no: { action: "decline" },
      cancelled: { action: "cancel" },
      failed: null,
    };
    const found = { questions: [] };
    for (const [name, reply] of Object.entries(replies)) {
      const answer = async ({ params }) => {
        found.questions.push(params.message);
        if (!reply) throw new Error("no window");
        return reply;
      };
      const work = (client) => call(client, "bash", { command: `echo ${name} > ${name}.txt` });
      found[name] = await connected(work, answer);
    }
    const work = (client) => call(client, "bash", { command: "echo nobody > nobody.txt" });
    found.nobody = await connected(work);
    return found;
  },

  hang: async () => {
    const client = await connect();
    call(client, "bash", { command: "sleep 300.70713" }).catch(() => {});
    await until(() => processes("300.70713").length > 0);
    console.log("begun");
    await new Promise((resolve) => setTimeout(resolve, 300_000));
  },

  lose: async () => {
    const client = await connect();
    const slow = call(client, "bash", { command: "sleep 300.70714" });
    slow.catch(() => {});
    await until(() => processes("300.70714").length > 0);
    process.kill(client.transport.pid, "SIGKILL");
    const error = await slow.then(() => null, String);
    await until(() => processes("300.70714").length === 0);
    const next = await connected((it) => call(it, "bash", { command: "echo again" }));
    return { error, next };
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
process.exit(0);
