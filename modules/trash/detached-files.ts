import { and, asc, desc, eq, inArray, lt, sql } from 'drizzle-orm'
import { withoutCaller } from '../../src/caller.ts'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import {
  type AttachmentItem,
  readAttachments,
  writeAttachments,
} from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { holdsFiles } from '../../src/core/fields/traits.ts'
import type { Field } from '../../src/core/model.ts'
import { rewriteLoggedValues } from '../../src/db/change-log/records.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { isAfterPosition, type ListPosition } from '../../src/db/newest-first.ts'
import { idBatches, renamedIds } from '../../src/db/renamed-ids.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import {
  type FeedBatch,
  type FeedConsumer,
  type FeedEntry,
  type FeedRecord,
  pageOfEntry,
  type RecordsService,
  storedId,
} from '../records/index.ts'
import type { SchemaReader, TableModel } from '../schema/index.ts'
import { defineTrashTables } from './tables.ts'

/** The name of the consumer of the change logs. */
const CONSUMER = 'detached-files'
/** Records of an entry that are read at once, and in total: undo puts back the files of larger changes. */
const RECORDS_AT_ONCE = 1_000
const MAX_RECORDS = 10_000
/** Rows per statement, well below every engine's limit of bound parameters. */
const ROWS_PER_STATEMENT = 100
/** For more bases, reading the rows of all is cheaper than listing ids. */
const MAX_NAMED_BASES = 500

type DetachedRow = ReturnType<typeof defineTrashTables>['detachedFiles']['$inferSelect']

/** A file that was removed from a cell of a live record. */
export interface DetachedFile
  extends Pick<DetachedRow, 'id' | 'baseId' | 'recordId' | 'detachedAt' | 'detachedBy' | 'item'> {
  model: TableModel
  field: Field
}

export type DetachedFiles = ReturnType<typeof createDetachedFiles>

interface Deps {
  kernel: Kernel
  schema: Pick<SchemaReader, 'load' | 'basesWithFiles'>
  records: Pick<RecordsService, 'feed' | 'apply' | 'get' | 'attachments'>
}

/**
 * The files that were removed from cells, with the cell that each was in. They are collected from the change logs; the files
 * themselves are kept by the log, whose undo needs them.
 */
export function createDetachedFiles({ kernel, schema, records }: Deps) {
  const { meta, events, log } = kernel
  const { detachedFiles } = meta.tables(defineTrashTables)
  const ofBase = (baseId: string) => eq(detachedFiles.baseId, baseId)

  const consumer: FeedConsumer = {
    name: CONSUMER,
    async take({ baseId, entries }: FeedBatch) {
      const statements: MetaStatement[] = []
      for (const entry of entries) {
        for (const { tableId, updated } of entry.tables) {
          if (updated > 0) statements.push(...(await collect(baseId, entry, tableId)))
        }
      }
      return statements
    },
  }
  records.feed.consume(consumer)
  kernel.removals.push((baseId) => [meta.db.delete(detachedFiles).where(ofBase(baseId))])
  kernel.tableMoves.push({
    statements: async ({ fromBaseId, toBaseId, tables, fields }) =>
      Array.from(idBatches(tables), (batch) => {
        const ofTables = and(
          ofBase(fromBaseId),
          inArray(
            detachedFiles.tableId,
            batch.map(([id]) => id),
          ),
        )
        return [
          ...Array.from(idBatches(fields), (ids) =>
            meta.db
              .update(detachedFiles)
              .set({ fieldId: renamedIds(detachedFiles.fieldId, ids) })
              .where(ofTables),
          ),
          meta.db
            .update(detachedFiles)
            .set({ baseId: toBaseId, tableId: renamedIds(detachedFiles.tableId, batch) })
            .where(ofTables),
        ]
      }).flat(),
  })
  events.on('schema.changed', ({ baseId, tableId }) => {
    if (tableId !== null) inBackground(baseId, () => followIfNeeded(baseId, tableId))
  })

  async function followIfNeeded(baseId: string, tableId: string): Promise<void> {
    if (records.feed.follows(CONSUMER, baseId)) return
    const model = await findModel(tableId)
    if (model?.fields.some(holdsFiles))
      await records.feed.follow(CONSUMER, baseId, { sinceSchemaChange: true })
  }

  function inBackground(baseId: string, work: () => Promise<unknown>): void {
    withoutCaller(() => {
      work().catch((error) => {
        // A base in the trash, or whose database is away, is looked at again when the server starts.
        if (!(error instanceof AppError))
          log.error('a change log could not be followed', error, { baseId, consumer: CONSUMER })
      })
    })
  }

  /** Null for a table in the trash. */
  async function findModel(tableId: string): Promise<TableModel | null> {
    try {
      return await schema.load(tableId)
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return null
      throw error
    }
  }

  /** The statements that note the files that an entry removed from cells of a table, and forget those that it added. */
  async function collect(baseId: string, entry: FeedEntry, tableId: string): Promise<MetaStatement[]> {
    const model = await findModel(tableId)
    const fields = model?.fields.filter(holdsFiles) ?? []
    if (!model || fields.length === 0) return []
    const engine = await kernel.sources.engine(baseId)
    const statements: MetaStatement[] = []
    let after = null
    for (let read = 0; read < MAX_RECORDS; read += RECORDS_AT_ONCE) {
      const page = await pageOfEntry(engine, model, entry, { after, limit: RECORDS_AT_ONCE })
      statements.push(...changesIn(page.records, fields, { baseId, tableId, entry }))
      after = page.next
      if (after === null) break
    }
    return statements
  }

  function changesIn(
    changed: readonly FeedRecord[],
    fields: readonly Field[],
    { baseId, tableId, entry }: { baseId: string; tableId: string; entry: FeedEntry },
  ): MetaStatement[] {
    const statements: MetaStatement[] = []
    for (const { recordId, before, after } of changed) {
      if (!before || !after) continue
      for (const { id: fieldId } of fields) {
        if (!(fieldId in before) && !(fieldId in after)) continue
        const [was, is] = [before, after].map((values) => storedItems(values[fieldId] ?? null))
        const added = [...(is?.keys() ?? [])].filter((path) => !was?.has(path))
        const cell = { tableId, fieldId, recordId: String(recordId) }
        if (added.length > 0) statements.push(forget(cell, added))
        const rows = [...(was ?? [])]
          .filter(([path]) => !is?.has(path))
          .map(([path, item]) => ({
            ...cell,
            baseId,
            path,
            item,
            detachedAt: entry.at,
            detachedBy: entry.actorId,
          }))
        for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
          statements.push(note(rows.slice(at, at + ROWS_PER_STATEMENT)))
      }
    }
    return statements
  }

  const note = (rows: Omit<DetachedRow, 'id'>[]) =>
    meta.db
      .insert(detachedFiles)
      .values(rows)
      .onConflictDoUpdate({
        target: [detachedFiles.tableId, detachedFiles.recordId, detachedFiles.fieldId, detachedFiles.path],
        set: { detachedAt: sql`excluded.detached_at`, detachedBy: sql`excluded.detached_by` },
      })

  const forget = (
    { tableId, fieldId, recordId }: Pick<DetachedRow, 'tableId' | 'fieldId' | 'recordId'>,
    paths: string[],
  ) =>
    meta.db
      .delete(detachedFiles)
      .where(
        and(
          eq(detachedFiles.tableId, tableId),
          eq(detachedFiles.recordId, recordId),
          eq(detachedFiles.fieldId, fieldId),
          inArray(detachedFiles.path, paths),
        ),
      )

  /** Those rows whose file and field still exist. */
  async function present(rows: readonly DetachedRow[]): Promise<DetachedFile[]> {
    const uses = await records.attachments.usesOf(rows.map(({ path }) => path))
    const known = new Set(uses.map(({ baseId, path }) => `${baseId} ${path}`))
    const models = new Map<string, TableModel | null>()
    for (const tableId of new Set(rows.map((row) => row.tableId)))
      models.set(tableId, await findModel(tableId))
    return rows.flatMap((row) => {
      const model = models.get(row.tableId)
      const field = model?.field(row.fieldId)
      return model && field && holdsFiles(field) && known.has(`${row.baseId} ${row.path}`)
        ? [{ ...row, model, field }]
        : []
    })
  }

  async function find(baseId: string, fileId: number): Promise<{ row: DetachedRow; file: DetachedFile }> {
    const [row] = await meta.db
      .select()
      .from(detachedFiles)
      .where(and(ofBase(baseId), eq(detachedFiles.id, fileId)))
    const [file] = row ? await present([row]) : []
    if (!row || !file) throw notFound('File', String(fileId))
    return { row, file }
  }

  return {
    /** Follows the bases with files. Call it once the feed runs. */
    async start(): Promise<void> {
      for (const baseId of await schema.basesWithFiles()) {
        if (!records.feed.follows(CONSUMER, baseId))
          inBackground(baseId, () => records.feed.follow(CONSUMER, baseId))
      }
    },

    /**
     * A page of the detached files of some bases, latest first, then by base, the latest id first. Does not check access.
     */
    async list(
      baseIds: readonly string[],
      {
        tableId,
        detachedBy,
        search,
        position,
        limit,
      }: {
        tableId?: string
        detachedBy?: string
        search?: string
        position: ListPosition<number> | null
        limit: number
      },
    ): Promise<DetachedFile[]> {
      const wantedBases = new Set(baseIds)
      const columns = { at: detachedFiles.detachedAt, baseId: detachedFiles.baseId, id: detachedFiles.id }
      const found: DetachedFile[] = []
      let from = position
      while (found.length < limit && baseIds.length > 0) {
        const rows: DetachedRow[] = await meta.db
          .select()
          .from(detachedFiles)
          .where(
            and(
              baseIds.length <= MAX_NAMED_BASES ? inArray(detachedFiles.baseId, [...baseIds]) : undefined,
              tableId === undefined ? undefined : eq(detachedFiles.tableId, tableId),
              detachedBy === undefined ? undefined : eq(detachedFiles.detachedBy, detachedBy),
              from ? isAfterPosition(columns, from, 'descending') : undefined,
            ),
          )
          .orderBy(desc(detachedFiles.detachedAt), asc(detachedFiles.baseId), desc(detachedFiles.id))
          .limit(RECORDS_AT_ONCE)
        const wanted = rows.filter(
          ({ baseId, item }) => wantedBases.has(baseId) && matchesText(item.title, search),
        )
        for (let at = 0; at < wanted.length && found.length < limit; at += ROWS_PER_STATEMENT)
          found.push(...(await present(wanted.slice(at, at + ROWS_PER_STATEMENT))))
        const last = rows.at(-1)
        if (!last || rows.length < RECORDS_AT_ONCE) break
        from = { at: last.detachedAt, baseId: last.baseId, rest: { after: last.id } }
      }
      return found.slice(0, limit)
    },

    /**
     * Puts a file back into its cell, behind the files that are there now.
     *
     * @throws GENERIC_NOT_FOUND; RECORD_NOT_FOUND if its record is gone; as the write door, e.g. for a full cell
     */
    async restore(actor: Actor, baseId: string, fileId: number): Promise<void> {
      const { row, file } = await find(baseId, fileId)
      const { model, field, item } = file
      const id = storedId(model, row.recordId)
      const record = await records.get(actor, model.table.id, id)
      const items = readAttachments(record.values[field.id] ?? null)
      if (!items.some(({ path }) => path === row.path)) {
        const values = { [field.id]: writeAttachments([...items, item]) }
        const operations = [{ kind: 'update' as const, tableId: model.table.id, rows: [{ id, values }] }]
        await records.apply(actor, { baseId, operations })
      }
      await meta.db.delete(detachedFiles).where(eq(detachedFiles.id, fileId))
    },

    /**
     * Erases a file from the history of its record. It is deleted within minutes, unless another cell or its history uses
     * it. Does not check access.
     *
     * @throws GENERIC_NOT_FOUND
     */
    async purge(baseId: string, fileId: number): Promise<void> {
      const { row, file } = await find(baseId, fileId)
      const engine = await kernel.sources.engine(baseId)
      await eraseFromHistory(engine, file.model, row)
      await meta.db.delete(detachedFiles).where(eq(detachedFiles.id, fileId))
      records.attachments.sweepSoon(baseId)
    },

    /** Takes files out of the trash that were detached before a time. The log keeps them as long as it needs them. */
    async forgetOld(baseId: string, before: string): Promise<number> {
      const gone = await meta.db
        .delete(detachedFiles)
        .where(and(ofBase(baseId), lt(detachedFiles.detachedAt, before)))
        .returning({ id: detachedFiles.id })
      return gone.length
    },
  }
}

/** The stored files of a cell by path. */
const storedItems = (value: CellValue): Map<string, AttachmentItem> =>
  new Map(readAttachments(value).flatMap((item) => (item.path === undefined ? [] : [[item.path, item]])))

/** True if a title contains the text, ignoring case. */
export const matchesText = (title: string, text: string | undefined): boolean =>
  text === undefined || title.toLowerCase().includes(text.toLowerCase())

function eraseFromHistory(
  engine: Engine,
  model: TableModel,
  { tableId, recordId, path }: Pick<DetachedRow, 'tableId' | 'recordId' | 'path'>,
): Promise<void> {
  const logged = engine.dialect.logId(sql`${storedId(model, recordId)}`)
  return rewriteLoggedValues(engine, { tableId, recordId: logged, text: path }, (json) => {
    const values = JSON.parse(json) as Record<string, CellValue>
    return JSON.stringify(
      Object.fromEntries(
        Object.entries(values).map(([key, value]) => {
          const items = readAttachments(value)
          if (!items.some((item) => item.path === path)) return [key, value]
          return [key, writeAttachments(items.filter((item) => item.path !== path))]
        }),
      ),
    )
  })
}
