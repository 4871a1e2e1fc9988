import { createHash } from 'node:crypto'
import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  like,
  lt,
  ne,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { UserActor } from '../../src/core/actor.ts'
import {
  type BaseImport,
  type BaseImportStatus,
  type BaseSourceKind,
  type ImportProblem,
  type ImportStep,
  importChoices,
  type TableProgress,
} from '../../src/core/base-imports.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { seal, unseal } from '../../src/secrets.ts'
import { defineBaseImportsTables } from './tables.ts'

/** Lines of one report; the rest is counted. */
export const MAX_PROBLEMS = 50_000
/** Rows per statement, below the limits of bound parameters. */
const ROWS_PER_STATEMENT = 200
const ID = /^\w{1,64}$/
const MAX_VALUE = 300

/** Where a run goes on after a pause, a restart or a kill. */
export interface RunState {
  step: ImportStep
  tables: TableProgress[]
  counts: BaseImport['counts']
  /** The next page of the table that is being read. */
  cursor: string | null
  /** The insert that may or may not have been written. */
  insert: { tableId: string; clientId: string; sourceIds: string[] } | null
  /** The last source id of the table that a step has finished with; the step goes on after it. */
  after: { tableId: string; sourceId: string } | null
}

export const startOfRun = (): RunState => ({
  step: 'schema',
  tables: [],
  counts: { files: 0, comments: 0, views: 0, verified: 0 },
  cursor: null,
  insert: null,
  after: null,
})

/** An import with what only the server knows. */
export interface ImportRow
  extends Omit<BaseImport, 'step' | 'tables' | 'counts' | 'problems' | 'hasCredentials'> {
  userId: string
  actor: UserActor
  keepsCredentials: boolean
  jobId: string | null
  state: RunState
  /** Sealed. */
  credentials: string | null
}

/** The objects after the one with this id in the source, in the order of these ids; null for the first ones. */
interface Page {
  after: string | null
  limit: number
}

/** An object of the source and its counterpart here. */
export interface ImportedObject {
  sourceId: string
  targetId: string
  digest: string | null
  pending: string | null
  run: number
}

/** Begins the note of what a record lacks behind its digest, see `writer/lacking.ts`. */
export const LACKS = ' lacks '

/** Begins the note on a comment behind the digest of its text, see `writer/write-comments.ts`. */
export const COMMENT_NOTE = ' note '
/** Comments that are read at once. */
const COMMENTS_PAGE = 500

/** Scope of the fields with the names of people without a member, by the fields of people. */
export const NAMES = 'names'

export const recordScope = (sourceTableId: string): string => `record:${sourceTableId}`
export const commentScope = (sourceTableId: string, sourceRecordId: string): string =>
  `comment:${sourceTableId}:${sourceRecordId}`

export type ImportStore = ReturnType<typeof createImportStore>

/** Imports of bases in the metadata. */
export function createImportStore({ meta, secrets }: Pick<Kernel, 'meta' | 'secrets'>) {
  const { db } = meta
  const { baseImports, baseImportObjects, baseImportProblems } = meta.tables(defineBaseImportsTables)
  type Row = typeof baseImports.$inferSelect

  const toRow = (row: Row): ImportRow => ({
    ...row,
    source: row.source as BaseSourceKind,
    status: row.status as BaseImportStatus,
    choices: importChoices.parse(row.choices),
    actor: row.actor as UserActor,
    state: row.state as RunState,
  })

  const ofObjects = (importId: string, scope: string) =>
    and(eq(baseImportObjects.importId, importId), eq(baseImportObjects.scope, scope))

  async function find(id: string): Promise<ImportRow | null> {
    if (!ID.test(id)) return null
    const [row] = await db.select().from(baseImports).where(eq(baseImports.id, id))
    return row ? toRow(row) : null
  }

  const pageOf = async (
    importId: string,
    scope: string,
    { after, limit }: Page,
    where: SQL | undefined,
  ): Promise<ImportedObject[]> =>
    db
      .select()
      .from(baseImportObjects)
      .where(
        and(
          ofObjects(importId, scope),
          after === null ? undefined : gt(baseImportObjects.sourceId, after),
          where,
        ),
      )
      .orderBy(asc(baseImportObjects.sourceId))
      .limit(limit)

  return {
    find,

    async insert(row: ImportRow): Promise<void> {
      await db.insert(baseImports).values(row)
    },

    /**
     * Changes an import unless its status has changed since it was read, or, if `jobId` is given, it belongs to another job since. False
     * if so.
     */
    async change(
      { id, status, jobId }: Pick<ImportRow, 'id' | 'status'> & Partial<Pick<ImportRow, 'jobId'>>,
      patch: Partial<ImportRow>,
    ): Promise<boolean> {
      const isOfJob = jobId === null ? isNull(baseImports.jobId) : jobId && eq(baseImports.jobId, jobId)
      const changed = await db
        .update(baseImports)
        .set({ ...patch, updatedAt: nowIso() })
        .where(and(eq(baseImports.id, id), eq(baseImports.status, status), isOfJob || undefined))
        .returning({ id: baseImports.id })
      return changed.length > 0
    },

    async ofUser(userId: string): Promise<ImportRow[]> {
      const rows = await db
        .select()
        .from(baseImports)
        .where(eq(baseImports.userId, userId))
        .orderBy(desc(baseImports.createdAt))
        .limit(50)
      return rows.map(toRow)
    },

    async running(): Promise<ImportRow[]> {
      const rows = await db.select().from(baseImports).where(eq(baseImports.status, 'running'))
      return rows.map(toRow)
    },

    /** Sealed with the key of connections. */
    sealCredentials: (credentials: unknown): string => seal(secrets.connections, JSON.stringify(credentials)),
    /** Null if there are none, or the key has changed. */
    openCredentials({ credentials }: Pick<ImportRow, 'credentials'>): unknown {
      const text = credentials === null ? null : unseal(secrets.connections, credentials)
      return text === null ? null : JSON.parse(text)
    },

    /** The counterparts of objects of the source, by their ids there. */
    async objects(
      importId: string,
      scope: string,
      sourceIds?: readonly string[],
    ): Promise<Map<string, ImportedObject>> {
      const found = new Map<string, ImportedObject>()
      const keep = (rows: ImportedObject[]) => {
        for (const row of rows) found.set(row.sourceId, row)
      }
      if (sourceIds === undefined) {
        keep(await db.select().from(baseImportObjects).where(ofObjects(importId, scope)))
        return found
      }
      for (const some of chunksOf([...new Set(sourceIds)])) {
        const wanted = and(ofObjects(importId, scope), inArray(baseImportObjects.sourceId, some))
        keep(await db.select().from(baseImportObjects).where(wanted))
      }
      return found
    },

    /** A page of the objects with pending values, or of all, in the order of their ids in the source. */
    page: (importId: string, scope: string, { isPending, ...page }: Page & { isPending: boolean }) =>
      pageOf(importId, scope, page, isPending ? isNotNull(baseImportObjects.pending) : undefined),

    /** A page of the objects that a run has found and that lack something, in the order of their ids in the source. */
    lacking: (importId: string, scope: string, { run, ...page }: Page & { run: number }) =>
      pageOf(
        importId,
        scope,
        page,
        and(eq(baseImportObjects.run, run), like(baseImportObjects.digest, `%${LACKS}%`)),
      ),

    /** The ids here of the comments of a person, page by page. @param by see `personHash` */
    async *commentsBy(importId: string, by: string): AsyncGenerator<string[]> {
      const { scope, sourceId, digest } = baseImportObjects
      for (let last: (ImportedObject & { scope: string }) | undefined; ; ) {
        const page = await db
          .select()
          .from(baseImportObjects)
          .where(
            and(
              eq(baseImportObjects.importId, importId),
              like(scope, 'comment:%'),
              like(digest, `%${COMMENT_NOTE}%"by":"${by}"%`),
              last && or(gt(scope, last.scope), and(eq(scope, last.scope), gt(sourceId, last.sourceId))),
            ),
          )
          .orderBy(asc(scope), asc(sourceId))
          .limit(COMMENTS_PAGE)
        last = page.at(-1)
        if (!last) return
        yield page.map(({ targetId }) => targetId)
      }
    },

    /** Statements that store the counterparts of objects, replacing earlier ones. */
    storing(importId: string, scope: string, objects: readonly ImportedObject[]): MetaStatement[] {
      return chunksOf(objects).map((some) =>
        db
          .insert(baseImportObjects)
          .values(some.map((object) => ({ ...object, importId, scope })))
          .onConflictDoUpdate({
            target: [baseImportObjects.importId, baseImportObjects.scope, baseImportObjects.sourceId],
            set: {
              targetId: sql`excluded.target_id`,
              digest: sql`excluded.digest`,
              pending: sql`excluded.pending`,
              run: sql`excluded.run`,
            },
          }),
      )
    },

    /** The statement that saves where a run goes on. */
    savingState: (id: string, state: RunState): MetaStatement =>
      db.update(baseImports).set({ state, updatedAt: nowIso() }).where(eq(baseImports.id, id)),

    /** Objects that a run has not found in the source. */
    async missing(importId: string, scope: string, run: number, limit: number): Promise<ImportedObject[]> {
      return db
        .select()
        .from(baseImportObjects)
        .where(and(ofObjects(importId, scope), lt(baseImportObjects.run, run)))
        .limit(limit)
    },

    async forget(importId: string, scope: string, sourceIds: readonly string[]): Promise<void> {
      for (const some of chunksOf(sourceIds)) {
        await db
          .delete(baseImportObjects)
          .where(and(ofObjects(importId, scope), inArray(baseImportObjects.sourceId, some)))
      }
    },

    /** Statements that forget the counterparts of objects. */
    forgetting: (importId: string, scope: string, sourceIds: readonly string[]): MetaStatement[] =>
      chunksOf(sourceIds).map((some) =>
        db
          .delete(baseImportObjects)
          .where(and(ofObjects(importId, scope), inArray(baseImportObjects.sourceId, some))),
      ),

    /** Drops the values that only the run needed. */
    async clearPending(importId: string): Promise<void> {
      await db
        .update(baseImportObjects)
        .set({ pending: null })
        .where(and(eq(baseImportObjects.importId, importId), isNotNull(baseImportObjects.pending)))
    },

    /** Adds lines to the report; a line that it has already is not repeated. Returns the number of new ones. */
    async report(importId: string, run: number, problems: readonly ImportProblem[]): Promise<number> {
      let added = 0
      for (const some of chunksOf(problems)) {
        const rows = some.map((problem) => {
          const line = { ...problem, value: problem.value?.slice(0, MAX_VALUE) ?? null }
          const id = createHash('sha256').update(JSON.stringify(line)).digest('base64url').slice(0, 24)
          return { ...line, id, importId, run }
        })
        const { id } = baseImportProblems
        added += (await db.insert(baseImportProblems).values(rows).onConflictDoNothing().returning({ id }))
          .length
      }
      return added
    },

    /** Removes the lines of earlier runs. */
    async startReport(importId: string, run: number): Promise<void> {
      await db
        .delete(baseImportProblems)
        .where(and(eq(baseImportProblems.importId, importId), ne(baseImportProblems.run, run)))
    },

    async countProblems(importIds: readonly string[]): Promise<Map<string, number>> {
      if (importIds.length === 0) return new Map()
      const rows = await db
        .select({ importId: baseImportProblems.importId, n: count() })
        .from(baseImportProblems)
        .where(inArray(baseImportProblems.importId, [...importIds]))
        .groupBy(baseImportProblems.importId)
      return new Map(rows.map(({ importId, n }) => [importId, Number(n)]))
    },

    /** A page of the report by table and field: remarks on the whole base, a table or a field stand before its records. */
    async problems(importId: string, limit: number, offset: number): Promise<ImportProblem[]> {
      const rows = await db
        .select()
        .from(baseImportProblems)
        .where(eq(baseImportProblems.importId, importId))
        .orderBy(
          // PostgreSQL sorts nulls last, SQLite first.
          ...[
            baseImportProblems.tableTitle,
            baseImportProblems.fieldTitle,
            baseImportProblems.viewTitle,
            baseImportProblems.recordId,
          ].map((column) => sql`coalesce(${column}, '')`),
          asc(baseImportProblems.id),
        )
        .limit(limit)
        .offset(offset)
      return rows.map(({ importId: _, id: __, run: ___, ...problem }) => ({
        ...problem,
        kind: problem.kind as ImportProblem['kind'],
      }))
    },

    /** Statements that forget imports into a base that is removed for good. */
    forRemovedBase(baseId: string): MetaStatement[] {
      const ids = db.select({ id: baseImports.id }).from(baseImports).where(eq(baseImports.baseId, baseId))
      return [
        db.delete(baseImportObjects).where(inArray(baseImportObjects.importId, ids)),
        db.delete(baseImportProblems).where(inArray(baseImportProblems.importId, ids)),
        db.delete(baseImports).where(eq(baseImports.baseId, baseId)),
      ]
    },

    /** Statements that end the imports of an account and forget their credentials. */
    forRemovedAccount(userId: string, isDeleted: SQL): MetaStatement[] {
      const isOwn = and(eq(baseImports.userId, userId), isDeleted)
      return [
        db.update(baseImports).set({ credentials: null, keepsCredentials: false }).where(isOwn),
        db
          .update(baseImports)
          .set({ status: 'cancelled', updatedAt: nowIso() })
          .where(and(isOwn, ne(baseImports.status, 'completed'))),
      ]
    },

    /** The imports into a base, newest first. */
    async ofBase(baseId: string): Promise<ImportRow[]> {
      const rows = await db
        .select()
        .from(baseImports)
        .where(or(eq(baseImports.baseId, baseId)))
        .orderBy(desc(baseImports.createdAt))
        .limit(50)
      return rows.map(toRow)
    },
  }
}

function chunksOf<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = []
  for (let from = 0; from < items.length; from += ROWS_PER_STATEMENT) {
    chunks.push(items.slice(from, from + ROWS_PER_STATEMENT))
  }
  return chunks
}
