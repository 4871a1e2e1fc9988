/** An object of a store. */
export interface StoredObject {
  /** Path within the store, e.g. `packs/3f/3f9a…`. */
  name: string
  /** Bytes. */
  size: number
  /** When it was stored, in milliseconds since 1970 by the clock of the store. */
  storedAt: number
}

/** Where backups are kept: a flat set of named objects. */
export interface BackupStore {
  /** For messages: `the folder /mnt/backups`, `the bucket backups (team/sheaf)`. */
  readonly label: string
  /** The folder of this machine that it keeps backups in; null for other places. */
  readonly folder: string | null
  /** True if it takes bytes more slowly than they are compressed, and is paid by size. */
  readonly isRemote: boolean
  /** Stores an object as a whole: after a crash it is complete or missing. Replaces one of the same name. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** The contents of an object; null if it is missing. */
  get(name: string): Promise<Uint8Array | null>
  /** Bytes of an object from an offset; fewer if it ends before, null if it is missing. */
  getRange(name: string, offset: number, length: number): Promise<Uint8Array | null>
  /** The objects whose names start with `prefix` (which ends with a slash), in any order. */
  list(prefix: string): Promise<StoredObject[]>
  /** Removes an object; a missing one counts as removed. */
  remove(name: string): Promise<void>
}

/** Names of objects are made by this program; anything else could leave the store. @throws Error */
export function requireName(name: string): string {
  if (!/^[\w-][\w.-]*(\/[\w.-]+)*$/.test(name) || name.includes('..'))
    throw new Error(`"${name}" is not the name of an object`)
  return name
}
