/** The version of this Gatehouse. */
export const VERSION = '0.1.0';
