const LIST_CHANGED = "notifications/tools/list_changed";

interface Notified {
  _onnotification?: (notification: { method?: unknown }, ...rest: unknown[]) => unknown;
}

/** One hook for each client, however many listen: hooks on hooks could not be removed in any order. */
const listenersOf = new WeakMap<object, Set<() => void>>();

/**
 * Calls `listener` when the server of a client tells that its tools have changed. The client's own notification handlers
 * stay as they are, set before or after: setting one more would replace the user's. Returns a function that stops it.
 *
 * On a client without the SDK's entry for notifications nothing is ever heard.
 */
export function onListChanged(client: object, listener: () => void): () => void {
  const listeners = listenersOf.get(client) ?? hook(client);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function hook(client: Notified): Set<() => void> {
  const listeners = new Set<() => void>();
  listenersOf.set(client, listeners);
  const receive = client._onnotification?.bind(client);
  if (receive === undefined) return listeners;
  Object.defineProperty(client, "_onnotification", {
    configurable: true,
    writable: true,
    value(notification: { method?: unknown }, ...rest: unknown[]): unknown {
      // The client first: it drops lists of its own that are stale now.
      const received = receive(notification, ...rest);
      if (notification.method === LIST_CHANGED) for (const listener of listeners) listener();
      return received;
    },
  });
  return listeners;
}
