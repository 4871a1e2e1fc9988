import { nowIso } from '../../../src/clock.ts'
import type { UserActor } from '../../../src/core/actor.ts'
import type { Filter } from '../../../src/core/filters/filter.ts'
import { createId, type IdKind } from '../../../src/core/ids.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { IndexTerm } from '../../../src/core/performance.ts'
import type { MetaReader, MetaStatement } from '../../../src/db/meta.ts'
import { renamePlaces } from '../../../src/db/view-places.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { defineSlot } from '../../../src/registry.ts'
import type { BaseDraft, BasesService } from '../../bases/index.ts'
import { fieldWithNewIds, type SchemaRows, type SchemaService, type TableModel } from '../../schema/index.ts'
import { type ViewRows, type ViewsService, viewsWithNewIds } from '../../views/index.ts'

/** A webhook that may be copied. */
export interface CopiedHook {
  id: string
  tableId: string
  title: string
  /** ISO 8601. */
  createdAt: string
  updatedAt: string
  filter: Filter | null
}

/** Webhooks in the copy of a base, provided by app.ts from the hooks module. They are read `from` a backup, or from this server. */
export interface CopiedHooks {
  /** A base's webhooks. */
  ofBase(baseId: string, from?: MetaReader): Promise<CopiedHook[]>
  /** The ids of a table's webhooks. */
  idsOfTable(tableId: string): Promise<string[]>
  /**
   * Statements that store copies of a base's webhooks, turned off, under the new ids of all that they refer to: of those
   * whose own ids and tables are among them.
   *
   * @param options `isMove`: they keep their secrets, get the deliveries of the originals, and are on if those are; those that
   *   failed too long stay paused. Made while no other writer of the new base can run
   */
  insert(
    baseId: string,
    ids: ReadonlyMap<string, string>,
    ownerId: string,
    options?: { from?: MetaReader | undefined; isMove?: boolean },
  ): Promise<MetaStatement[]>
  /**
   * Makes the deliveries that webhooks of some tables have not got as far as, up to an entry of the log: also of paused ones,
   * except those whose condition or fields are gone.
   *
   * @param check called between steps, and may throw to end it
   */
  catchUp(tableIds: readonly string[], entryId: number, check: () => void): Promise<void>
  /** Lets the webhooks of moved tables begin. @param tables the new ids of the tables by the old ones */
  announceMoved(tables: ReadonlyMap<string, string>): Promise<void>
}

export const COPIED_HOOKS = defineSlot<CopiedHooks>('imports.copiedHooks')

/** The right that a copy of tables needs in the base of the originals until it is published. */
export const rightToCopy = ({ withHooks }: { withHooks: boolean }) =>
  withHooks ? 'hook.list' : 'record.export'

/** Comments in the copy of a table, provided by app.ts from the comments module. */
export interface CopiedComments {
  countOf(tableId: string): Promise<number>
  /**
   * Stores copies of a table's comments, with their authors and times, for a table that does not exist yet, in portions.
   *
   * @param to `ids`: new ids of fields. `has`: the ids of those records, as text, that the new table has
   * @param check called before each portion, and may throw to end it
   */
  copy(
    tableId: string,
    to: {
      baseId: string
      tableId: string
      ids: ReadonlyMap<string, string>
      has(recordIds: readonly string[]): Promise<ReadonlySet<string>>
    },
    check: () => void,
  ): Promise<void>
  /**
   * Stores copies of the comments on some records, with their threads, reactions, authors and times, for the records that replace
   * them. May be called again: comments that are copied already are left out.
   *
   * @param to `ids`: new ids of fields. `records`: the new records by the former ones
   */
  copyOfRecords(
    from: TableModel,
    to: {
      model: TableModel
      ids: ReadonlyMap<string, string>
      records: readonly (readonly [RecordId, RecordId])[]
    },
  ): Promise<void>
  /** Removes such copies, of a table that has not appeared. */
  removeCopies(tableId: string): Promise<void>
  /**
   * Statements that give a table's comments, with their ids, to the table that replaces it. The original gets copies of them.
   *
   * @param to `ids`: new ids of fields
   */
  move(
    from: { baseId: string; tableId: string },
    to: { baseId: string; tableId: string; ids: ReadonlyMap<string, string> },
  ): Promise<MetaStatement[]>
}

export const COPIED_COMMENTS = defineSlot<CopiedComments>('imports.copiedComments')

/** An index that somebody asked for. */
export interface RequestedIndex {
  tableId: string
  terms: IndexTerm[]
  /** The column of each term. */
  columns: string[]
}

/** The indexes in the copy of a base, provided by app.ts from the indexes module. */
export interface CopiedIndexes {
  requestedOf(tableIds: readonly string[]): Promise<RequestedIndex[]>
  /** Statements that store indexes for the copies of their tables, which are built then. @param ids new ids of tables and fields */
  storing(
    baseId: string,
    indexes: readonly RequestedIndex[],
    ids: ReadonlyMap<string, string>,
  ): MetaStatement[]
}

export const COPIED_INDEXES = defineSlot<CopiedIndexes>('imports.copiedIndexes')

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events' | 'registry'>
  bases: Pick<BasesService, 'copies'>
  schema: Pick<SchemaService, 'copiedRows'>
  views: Pick<ViewsService, 'rowsForCopy' | 'insertForCopy'>
}

/** The definitions of a base's tables. */
export interface CopiedRows extends SchemaRows, ViewRows {}

/** True if nothing has changed between two reads of a base's definitions. */
export const isSameDefinition = (before: CopiedRows, after: CopiedRows): boolean =>
  Bun.deepEquals(versionsOf(before), versionsOf(after))

const versionsOf = ({ tables, views }: CopiedRows) => [
  tables.map(({ id, version }) => [id, version]).toSorted(),
  views.map(({ id, updatedAt }) => [id, updatedAt]).toSorted(),
]

/** A base that becomes visible under new ids. Its home is there already, and its own row in the trash. */
export interface BaseToPublish {
  owner: UserActor
  /** The id of the original. */
  baseId: string
  newBaseId: string
  /** New source ids by the original's. */
  sourceIds: ReadonlyMap<string, string>
  rows: CopiedRows
  withHooks: boolean
  /** Copies only webhooks that were there at a time, ISO 8601. */
  hooksAt?: string | null
  /** Where the webhooks are read; absent: on this server. */
  from?: MetaReader
  /** Statements for further rows, by the new ids of all that they refer to. */
  also?: (ids: ReadonlyMap<string, string>) => MetaStatement[]
}

export type CopyRows = ReturnType<typeof createCopyRows>

/** Reads the definitions of a base, here or in a backup, and writes them as those of its copy. */
export function createCopyRows({ kernel, bases, schema, views }: Deps) {
  return {
    /**
     * The definitions of a base's tables.
     *
     * @param draft the copy, which tells whose tables are read: those of the base, and of its connected databases
     * @param options `from`: where they are read, if not on this server; `withTrash`: with the tables and fields in the
     *   trash of the base itself
     */
    async read(
      baseId: string,
      { sourceIds, ownSourceId }: BaseDraft,
      { withViews, from, withTrash = false }: { withViews: boolean; from?: MetaReader; withTrash?: boolean },
    ): Promise<CopiedRows> {
      const connected = [...sourceIds.keys()].filter((id) => id !== ownSourceId)
      const all = await schema.copiedRows.rowsOf(baseId, connected, { from, withTrash })
      const tables = all.tables.filter(({ sourceId }) => sourceIds.has(sourceId))
      const ids = new Set(tables.map(({ id }) => id))
      const fields = all.fields.filter(({ tableId }) => ids.has(tableId))
      return { tables, fields, ...(await views.rowsForCopy([...ids], withViews, from)) }
    },

    /** Stores the definitions under new ids and takes the copy out of the trash, in one transaction. */
    async publish(copy: BaseToPublish): Promise<void> {
      const { owner, baseId, newBaseId, rows, from } = copy
      const hooks = kernel.registry.get(COPIED_HOOKS)
      const { hooksAt } = copy
      const copied = (copy.withHooks ? await hooks.ofBase(baseId, from) : []).filter(
        ({ createdAt }) => hooksAt == null || createdAt <= hooksAt,
      )
      const known = [...copy.sourceIds, ...copied.map(({ id }) => [id, createId('hook')] as const)]
      const fresh = withNewIds(rows, new Map([[baseId, newBaseId], ...known]))
      const copies = fresh.views.map(({ id, tableId }, index) => {
        return [rows.views[index]?.id ?? '', { viewId: id, tableId }] as const
      })
      await renamePlaces(await kernel.sources.engine(newBaseId), new Map(copies))
      const now = nowIso()
      await bases.copies.finish(owner, newBaseId, [
        ...schema.copiedRows.insertRows({
          tables: fresh.tables.map((table) => ({ ...table, createdAt: now, updatedAt: now })),
          fields: fresh.fields,
        }),
        ...views.insertForCopy({
          views: fresh.views.map((view) => ({ ...view, createdBy: owner.id, ownedBy: owner.id })),
          lines: fresh.lines,
        }),
        ...(copy.withHooks ? await hooks.insert(baseId, fresh.ids, owner.id, { from }) : []),
        ...(copy.also?.(fresh.ids) ?? []),
      ])
      kernel.events.emit('schema.changed', { baseId: newBaseId, tableId: null, version: 0 })
    },
  }
}

/**
 * Replaces all ids, also in the references between definitions.
 * @param known new ids of the base and its sources, by the old ones
 */
function withNewIds(
  rows: CopiedRows,
  known: ReadonlyMap<string, string>,
): CopiedRows & { ids: ReadonlyMap<string, string> } {
  const ids = new Map(known)
  const name = (kind: IdKind) => (row: { id: string }) => void ids.set(row.id, createId(kind))
  rows.tables.forEach(name('table'))
  rows.fields.forEach(name('field'))
  rows.views.forEach(name('view'))
  const renamed = (id: string): string => ids.get(id) ?? id
  return {
    ids,
    tables: rows.tables.map((table) => ({
      ...table,
      id: renamed(table.id),
      baseId: renamed(table.baseId),
      sourceId: renamed(table.sourceId),
    })),
    fields: rows.fields.map((field) => withNewHook(fieldWithNewIds(field, ids), ids)),
    ...viewsWithNewIds(rows, ids),
  }
}

/** A button of the copy triggers the copy of its webhook, or none. */
function withNewHook<F extends SchemaRows['fields'][number]>(field: F, ids: ReadonlyMap<string, string>): F {
  const { webhookId } = field.options
  if (typeof webhookId !== 'string') return field
  return { ...field, options: { ...field.options, webhookId: ids.get(webhookId) ?? null } }
}
