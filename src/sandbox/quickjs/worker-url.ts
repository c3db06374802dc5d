/** Where the worker's built file lies: beside this module in `dist`, whatever the format. */
export function defaultWorkerUrl(): URL {
  return new URL("./worker.js", import.meta.url);
}
