/** Takes files into a backup. Paths are relative to it, with `/` between their parts. */
export interface BackupSink {
  /** Copies a file as it is now. False when there is none of that name (any more). */
  copy(source: string, path: string): Promise<boolean>;
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** A directory that has to be there although it is empty. */
  directory(path: string): Promise<void>;
}
