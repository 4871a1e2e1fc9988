import { Database } from 'bun:sqlite'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { upgradeBaseFile } from '../base-file.ts'
import { removeSqliteFiles } from '../copy-home.ts'
import { lockDataDir } from '../lock-data-dir.ts'
import { migrateSqlite } from '../migrate.ts'
import { createBaseFile } from '../sqlite-engine.ts'
import { type Installation, type MoveState, storeStateStatements } from './installation.ts'
import { openSqliteStore, openStoreFile } from './sqlite-store.ts'

/** The state of a move in an open metadata file. */
export function readMoveState(file: Database): MoveState | null {
  const isThere = file.query(`select 1 from sqlite_schema where type = 'table' and name = 'sheaf_move'`).get()
  if (!isThere) return null
  return file.query<MoveState, []>('select id, role, state, peer, at from sheaf_move').get()
}

/**
 * The SQLite files of a data folder, locked until `close`.
 *
 * @throws Error if a server or another move uses the folder
 */
export function openSqliteInstallation(dataDir: string): Installation {
  const folder = join(dataDir, 'bases')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const unlock = lockDataDir(dataDir)
  const path = join(dataDir, 'sheaf.db')
  const homeOf = (baseId: string) => join(folder, `${baseId}.db`)
  const isThere = (file: string) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0

  function openMetadata(): Database {
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
    const file = openStoreFile(path)
    migrateSqlite(file)
    return file
  }

  function withMetadata<T>(work: (file: Database) => T): T {
    const file = openMetadata()
    try {
      return work(file)
    } finally {
      file.close()
    }
  }

  function storeState(file: Database, state: MoveState | null): void {
    for (const { sql, params } of storeStateStatements(state, () => '?')) file.run(sql, params)
  }

  return {
    client: 'sqlite3',
    label: `the data folder ${dataDir}`,
    start: 'without DATABASE_URL',
    state: async () => (isThere(path) ? withMetadata(readMoveState) : null),
    setState: async (state) => withMetadata((file) => file.transaction(() => storeState(file, state))()),
    async isEmpty() {
      if (readdirSync(folder).some((name) => name.endsWith('.db'))) return false
      return (
        !isThere(path) || withMetadata((file) => file.query('select 1 from users limit 1').get() === null)
      )
    },
    kinds: async () => null,
    metadata: async (kinds) => openSqliteStore(openMetadata(), path, { kinds: kinds ?? new Map() }),
    async writeMetadata(kinds, state, work) {
      const file = openMetadata()
      const store = openSqliteStore(file, path, { kinds: kinds ?? new Map() })
      try {
        file.run('begin immediate')
        file.run('pragma defer_foreign_keys = on')
        await work(store)
        storeState(file, state)
        file.run('commit')
      } catch (error) {
        if (file.inTransaction) file.run('rollback')
        throw error
      } finally {
        await store.close()
      }
    },
    baseMoves: null,
    homeName: homeOf,
    hasHome: async (baseId) => isThere(homeOf(baseId)),
    async home(baseId, hasTextIds) {
      const home = homeOf(baseId)
      if (!isThere(home)) return null
      const upgraded = new Database(home, { readwrite: true, create: false, strict: true })
      upgradeBaseFile(upgraded)
      upgraded.close()
      return openSqliteStore(openStoreFile(home), home, { hasTextIds })
    },
    async createHome(baseId) {
      if (isThere(homeOf(baseId))) return
      // A killed attempt may have left an empty file.
      await removeSqliteFiles(homeOf(baseId))
      createBaseFile(homeOf(baseId))
    },
    removeHome: (baseId) => removeSqliteFiles(homeOf(baseId)),
    async remove(baseIds) {
      for (const baseId of baseIds) await removeSqliteFiles(homeOf(baseId))
      await removeSqliteFiles(path)
    },
    // The lock is an open file.
    requireLock: async () => {},
    close: async () => unlock(),
  }
}
