/**
 * Frees the memory of bytes that nothing uses any more: at once, and not at the next collection. Node allocates each piece that a
 * connection brings, and V8 marks the whole heap for every 64 MB of such memory, which costs all callers of the process some
 * milliseconds, and its helper threads as much processor time again. Does nothing where other bytes lie in the same memory.
 */
export function freeMemory(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength > 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** The same once the code that brought the bytes has ended: it may look at them once more. */
export function freeMemorySoon(bytes: Uint8Array): void {
  queueMicrotask(() => freeMemory(bytes));
}
