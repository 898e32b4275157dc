/** Enough for some thousand routes. A file is read whole, and locating every issue costs time. */
export const MAX_CATALOGUE_CHARACTERS = 1024 * 1024;
