import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'

/** Values that have been there before, of any number: many are kept in a temporary file. */
export interface SeenValues {
  /** False if the values were added before. */
  add(...values: readonly (string | number)[]): boolean
  close(): void
}

export function openSeenValues(): SeenValues {
  const file = new Database(':memory:', { strict: true })
  file.run('pragma temp_store = file')
  file.run('create temp table seen (digest blob primary key) without rowid')
  // Each insert would be a transaction of its own.
  file.run('begin')
  const insert = file.prepare<unknown, [Uint8Array]>('insert or ignore into seen values (?)')
  return {
    add: (...values) => insert.run(createHash('sha256').update(JSON.stringify(values)).digest()).changes > 0,
    close: () => file.close(),
  }
}
