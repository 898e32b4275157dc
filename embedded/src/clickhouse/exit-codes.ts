/** The exit codes of the engine process. */
export const EXIT = {
  stopped: 0,
  /** Another engine serves the directory. */
  follower: 75,
  /** The directory could not be opened: held by another process for too long, or broken. */
  cannotOpen: 76,
  /** chDB has no build for this platform, or its library is missing. */
  unsupported: 78,
} as const;
