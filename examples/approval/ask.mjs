// Process A: a script that reads, then wants to write. The write needs a person, so the script is paused and kept.
import { callMeta, openEngine } from "./engine.mjs";

const { engine, files, close } = await openEngine();
const code = `
const files = ${JSON.stringify(files)};
const { content } = await call_tool("list_directory", { path: files });
const count = content.trim().split("\\n").length;
await call_tool("write_file", { path: files + "/report.txt", content: count + " files so far" });
return "written by the script";`;
console.log(await callMeta(engine, "execute", { code }));
await close();
