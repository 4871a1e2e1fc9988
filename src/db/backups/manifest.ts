import { z } from 'zod'
import { StoredTable } from '../move/store.ts'

/** The format of manifests. A reader refuses later ones. */
export const FORMAT = 1

const hash = z.string().regex(/^[0-9a-f]{32}$/)
/** Relative to the data folder. Checked, because a restore writes there. */
const path = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    (text) =>
      !text.startsWith('/') &&
      !text.includes('\\') &&
      !text.split('/').some((name) => name === '' || name === '.' || name === '..'),
  )
const count = z.int().min(0)

/** A file of the data folder; an SQLite file is stored as of one moment, without its log. */
const BackupFile = z.strictObject({
  path,
  /** Bytes. */
  size: count,
  /** Of a plain file: it is read again if it has another. */
  modifiedMs: z.number().optional(),
  /** Of an SQLite file: it is read again if it has another. */
  state: z.string().optional(),
  /** The names of the chunks, in order. A name is a checksum of the contents. */
  chunks: z.array(hash),
  /** Of an attached file in a bucket: the id of that. */
  bucket: z.string().optional(),
  /** The records of each table of an SQLite file. */
  tables: z.record(z.string(), count).optional(),
})
export type BackupFile = z.output<typeof BackupFile>

/** A table in PostgreSQL. Statements name no schema, so that they create it in any. */
const PostgresTable = z.strictObject({
  name: z.string(),
  /** Of the backup's file that has its rows, in the text format of COPY. */
  path,
  /** The columns of the rows, in order. */
  columns: z.array(z.string()),
  rows: count,
  /** Bytes on the disk of the database, with its indexes. */
  diskSize: count,
  /** As long as it is equal, neither definition nor rows have changed. */
  state: z.string(),
  create: z.string(),
  /** The numbers that an identity column has given. */
  identity: z.strictObject({ column: z.string(), last: z.string(), isCalled: z.boolean() }).nullable(),
})
export type PostgresTable = z.output<typeof PostgresTable>

/** A schema in PostgreSQL: the metadata, or the home of a base. */
const PostgresSchema = z.strictObject({
  /** Null for the metadata. */
  baseId: z.string().nullable(),
  tables: z.array(PostgresTable),
  /** Statements for keys, indexes and references, which follow the rows. */
  complete: z.array(z.string()),
  /** Its tables as SQLite can create them, those that others refer to first; null if it has types that SQLite lacks. */
  stored: z.array(StoredTable).nullable(),
})
export type PostgresSchema = z.output<typeof PostgresSchema>

const BackupBase = z.strictObject({ id: z.string(), title: z.string() })
export type BackupBase = z.output<typeof BackupBase>

/** What has started a backup. */
export const BACKUP_KINDS = ['manual', 'scheduled', 'upgrade'] as const
export type BackupKind = (typeof BACKUP_KINDS)[number]

/** The facts of a backup, for lists. */
export const BackupSummary = z.strictObject({
  /** Sorts by time: `20261126T163001482Z-k3x9ab` is of 16:30:01.482 UTC. */
  id: z.string(),
  /** ISO 8601: the moment whose state it has. */
  at: z.string(),
  /** Of Sheaf. */
  version: z.string(),
  kind: z.enum(BACKUP_KINDS),
  /** Bytes of everything in it. */
  size: count,
  /** Bytes that it added to the store, compressed. */
  added: count,
  durationMs: count,
  bases: z.array(BackupBase),
  /** True if it has the files in `secrets`, which decrypt connections to other databases. */
  hasSecrets: z.boolean(),
  /** Attached files in buckets that are not in it: left out, or missing there. */
  filesElsewhere: count,
})
export type BackupSummary = z.output<typeof BackupSummary>

/** Everything that a restore needs to know. Stored last: a backup without it does not exist. */
export const Manifest = z.strictObject({
  format: z.literal(FORMAT),
  summary: BackupSummary,
  files: z.array(BackupFile),
  /** Of an installation in PostgreSQL: the metadata first. */
  postgres: z.array(PostgresSchema).min(1).optional(),
})
export type Manifest = z.output<typeof Manifest>

/** What is restored into the data folder: everything but tables in PostgreSQL and attached files of buckets. */
export function filesOf({ files, postgres = [] }: Pick<Manifest, 'files' | 'postgres'>): BackupFile[] {
  const ofTables = new Set(postgres.flatMap(({ tables }) => tables.map(({ path }) => path)))
  return files.filter(({ path, bucket }) => bucket === undefined && !ofTables.has(path))
}

/** The names of all chunks of a backup, with repetitions. */
export const chunksOf = ({ files }: Pick<Manifest, 'files'>): string[] =>
  files.flatMap(({ chunks }) => chunks)

/** The result of a restore test. */
export const TestResult = z.strictObject({
  backupId: z.string(),
  /** ISO 8601. */
  at: z.string(),
  durationMs: count,
  /** Null if everything could be restored; else what could not, for an administrator. */
  problem: z.string().nullable(),
})
export type TestResult = z.output<typeof TestResult>
