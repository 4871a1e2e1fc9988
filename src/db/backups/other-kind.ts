import { quotePostgres as quote } from '../../dialects/postgres-tables.ts'
import { postgresConnection } from '../connection.ts'
import { migratePostgres } from '../migrate.ts'
import type { MetadataKinds, MoveState } from '../move/installation.ts'
import { copyMetadata } from '../move/move.ts'
import { copyHome, createTally, readBasesIn } from '../move/move-home.ts'
import { canonicalOfCopy, openPostgresStore } from '../move/postgres-store.ts'
import { openSqliteInstallation } from '../move/sqlite-installation.ts'
import { BATCH_LENGTH, BATCH_ROWS, type StoredRow, type StoredTable, type TableStore } from '../move/store.ts'
import { createBaseSchema } from '../postgres/base-schema.ts'
import { DamagedObject } from './codec.ts'
import type { Manifest, PostgresSchema } from './manifest.ts'
import { connectForBackups, diskSizeOf, KEEP_ON_COORDINATOR } from './postgres/schemas.ts'
import type { Repository } from './repository.ts'
import { readChunks, requireSpace } from './restore-backup.ts'

/*
 * Brings the metadata and bases of a backup into the other kind of database, by the copies of `sheaf move`.
 */

/** Names of new schemas. */
export interface NewSchemas {
  metadata: string
  /** By the ids of bases; others are not copied. */
  bases: Record<string, string>
}

/**
 * Copies the metadata and bases from a folder with restored files into new schemas, and compares every cell.
 *
 * @returns the ids of the bases that the metadata have
 * @throws Error naming a cell that differs; the driver's errors
 */
export async function copyToSchemas({
  folder,
  databaseUrl,
  schemas,
}: {
  folder: string
  databaseUrl: string
  schemas: NewSchemas
}): Promise<string[]> {
  const copied: string[] = []
  const connection = postgresConnection(databaseUrl)
  const client = connectForBackups(connection, quote(schemas.metadata))
  const from = openSqliteInstallation(folder)
  try {
    await client.begin(async (tx) => {
      await tx.unsafe(KEEP_ON_COORDINATOR)
      await tx.unsafe(`create schema ${quote(schemas.metadata)}`)
    })
    await migratePostgres(client)
    // A server installs its triggers where the function is missing.
    await client.unsafe(`drop function if exists ${quote(schemas.metadata)}.sheaf_row_changed() cascade`)
    const metadata = openPostgresStore(client, schemas.metadata, 'The restored metadata')
    const kinds = kindsOf(await metadata.tables())
    const source = await from.metadata(kinds)
    try {
      const tally = createTally()
      await client.begin((tx) =>
        copyMetadata(source, openPostgresStore(tx, schemas.metadata, metadata.name), 'pg', tally),
      )
      for (const base of await readBasesIn(source)) {
        const schema = schemas.bases[base.id]
        if (schema === undefined) continue
        const to = {
          createHome: () => createBaseSchema(connection, schema),
          async home() {
            const home = connectForBackups(connection, quote(schema))
            return openPostgresStore(home, schema, `The restored base ${base.id}`, () =>
              home.end({ timeout: 5 }),
            )
          },
        }
        await copyHome(base, from, to, tally, () => {})
        copied.push(base.id)
      }
      return copied
    } finally {
      await source.close()
    }
  } finally {
    await from.close()
    await client.end({ timeout: 5 })
  }
}

/**
 * Writes the metadata and bases of a backup of PostgreSQL as SQLite files into a folder, which has the files of other
 * bases already if the backup has any.
 *
 * @param baseIds null: all bases
 * @throws Error if the disk has too little space, and for a backup whose columns SQLite does not have; DamagedObject that
 *   names the table
 */
export async function copyToFiles(
  repository: Repository,
  manifest: Manifest,
  folder: string,
  baseIds: readonly string[] | null,
): Promise<void> {
  const homes = new Map((manifest.postgres ?? []).map((schema) => [schema.baseId, schema]))
  const described = homes.get(null)
  if (!described) throw new Error('The backup has no metadata')
  const isWanted = (id: string) => baseIds === null || baseIds.includes(id)
  const wanted = [...homes.values()].filter(({ baseId }) => baseId === null || isWanted(baseId))
  requireSpace(folder, diskSizeOf(wanted))
  const open = (schema: PostgresSchema) => openBackupStore(repository, manifest, schema)
  const source = open(described)
  const to = openSqliteInstallation(folder)
  try {
    const { id, at } = manifest.summary
    const state: MoveState = { id, role: 'target', state: 'moved', peer: 'a backup', at }
    await to.writeMetadata(kindsOf(await source.tables()), state, (target) =>
      copyMetadata(source, target, to.client, null),
    )
    await to.setState(null)
    for (const base of await readBasesIn(source)) {
      const schema = homes.get(base.id)
      // The file is there already; earlier backups may also have the former schema.
      if (!schema || base.home === 'sqlite3' || !isWanted(base.id)) continue
      const from = { label: 'the backup', home: async () => open(schema) }
      await copyHome(base, from, to, null, () => {})
    }
  } finally {
    await to.close()
  }
}

const kindsOf = (tables: readonly StoredTable[]): MetadataKinds =>
  new Map(tables.map(({ name, columns }) => [name, new Map(columns.map((one) => [one.name, one.kind]))]))

/** The tables of a schema in a backup, to be read. Rows come in the order of the backup. */
function openBackupStore(
  repository: Repository,
  { files, summary }: Manifest,
  { baseId, tables, stored }: PostgresSchema,
): TableStore {
  const name = baseId === null ? 'the metadata of the backup' : `the base ${baseId} of the backup`
  const refuse = async (): Promise<never> => {
    throw new Error(`${name} can only be read`)
  }
  return {
    name,
    async tables() {
      if (stored === null)
        throw new Error(`The backup ${summary.id} has columns of types that only PostgreSQL has`)
      return stored
    },
    async *rows(table) {
      const known = tables.find((one) => one.name === table.name)
      const file = known && files.find(({ path }) => path === known.path)
      if (!known || !file) throw new DamagedObject(`The table ${table.name} is missing in ${name}`)
      const places = table.columns.map((column) => known.columns.indexOf(column.name))
      let count = 0
      let [batch, length]: [StoredRow[], number] = [[], 0]
      for await (const line of linesOf(readChunks(repository, file.chunks))) {
        const values = line.split('\t').map(valueOfCopy)
        batch.push(
          table.columns.map(({ kind }, at) => canonicalOfCopy(values[places[at] ?? -1] ?? null, kind)),
        )
        count++
        length += line.length
        if (batch.length < BATCH_ROWS && length < BATCH_LENGTH) continue
        yield batch
        ;[batch, length] = [[], 0]
      }
      if (batch.length > 0) yield batch
      if (count !== known.rows)
        throw new DamagedObject(`The table ${table.name} has ${count} rows, but ${known.rows} were backed up`)
    },
    lastKey: refuse,
    create: refuse,
    insert: refuse,
    remove: refuse,
    clear: refuse,
    buildIndexes: refuse,
    continueIds: refuse,
    complete: refuse,
    async close() {},
  }
}

/** Lines without their ends. Line breaks within values are escaped. */
async function* linesOf(contents: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let held: Uint8Array = new Uint8Array()
  for await (const bytes of contents) {
    const joined = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    const end = joined.lastIndexOf(0x0a) + 1
    held = joined.subarray(end)
    if (end > 0)
      yield* Buffer.from(joined.subarray(0, end - 1))
        .toString()
        .split('\n')
  }
}

/** A value in the text format of COPY: https://www.postgresql.org/docs/current/sql-copy.html */
function valueOfCopy(text: string): string | null {
  if (text === '\\N') return null
  if (!text.includes('\\')) return text
  return text.replaceAll(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter)
}

const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
