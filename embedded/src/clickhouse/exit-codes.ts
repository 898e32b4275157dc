/** How the engine process says why it ended. */
export const EXIT = {
  stopped: 0,
  /** Another engine serves the directory. */
  guest: 75,
  /** The directory could not be opened: held by another process for too long, or broken. */
  cannotOpen: 76,
  /** chDB has no build for this platform, or its library is missing. */
  unsupported: 78,
} as const;
