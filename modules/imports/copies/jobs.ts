import type { UserActor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { showsPeople } from '../../../src/core/fields/traits.ts'
import { createId, type IdKind } from '../../../src/core/ids.ts'
import { withPublicOptions } from '../../../src/core/views/public-view.ts'
import type { HomeCopy } from '../../../src/db/copy-home.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { renamePlaces } from '../../../src/db/view-places.ts'
import type { JobContext, JobKind } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { defineSlot } from '../../../src/registry.ts'
import type { BasesService } from '../../bases/index.ts'
import type { RecordsService } from '../../records/index.ts'
import {
  type FieldPosition,
  fieldWithNewIds,
  type SchemaRows,
  type SchemaService,
} from '../../schema/index.ts'
import { type ViewRows, type ViewsService, viewsWithNewIds } from '../../views/index.ts'

/** Job name on the wire. */
export const COPY_JOB = 'duplicate-base'

export interface CopyInput {
  owner: UserActor
  baseId: string
  newBaseId: string
  title: string
  withData: boolean
  withViews: boolean
  /** Absent in jobs of earlier versions. */
  withHooks?: boolean
  /** True for visitors by a link: the copy has no connected databases and no people. */
  isVisitor: boolean
}

/** Webhooks in the copy of a base, provided by app.ts from the hooks module. */
export interface CopiedHooks {
  /** The ids of a base's webhooks. */
  idsOf(baseId: string): Promise<string[]>
  /** Statements that store copies of a base's webhooks, turned off, under the new ids of all that they refer to. */
  insert(baseId: string, ids: ReadonlyMap<string, string>, ownerId: string): Promise<MetaStatement[]>
}

export const COPIED_HOOKS = defineSlot<CopiedHooks>('imports.copiedHooks')

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'log' | 'events' | 'registry'>
  bases: Pick<BasesService, 'require' | 'copies'>
  schema: Pick<SchemaService, 'copiedRows'>
  views: Pick<ViewsService, 'rowsForCopy' | 'insertForCopy'>
  records: Pick<RecordsService, 'attachments'>
}

/** The copy starts over if someone changes the schema in the meantime. */
const MAX_TRIES = 3

/** Copies a base with its tables, fields, views and records as of one moment. */
export function createCopyJob(deps: Deps): JobKind<CopyInput> {
  const { kernel, bases, schema, views, records } = deps

  async function readRows(
    { baseId, withViews }: CopyInput,
    sources: ReadonlySet<string>,
  ): Promise<CopiedRows> {
    const all = await schema.copiedRows.rowsOf(baseId)
    const tables = all.tables.filter(({ sourceId }) => sources.has(sourceId))
    const ids = new Set(tables.map(({ id }) => id))
    const fields = all.fields.filter(({ tableId }) => ids.has(tableId))
    return { tables, fields, ...(await views.rowsForCopy([...ids], withViews)) }
  }

  async function copyOnce(input: CopyInput, signal: AbortSignal): Promise<boolean> {
    const { baseId, newBaseId, owner, withData } = input
    const original = await bases.require(baseId)
    const draft = await bases.copies.begin(owner, original, {
      baseId: newBaseId,
      title: input.title,
      withSources: !input.isVisitor,
    })
    const rows = await readRows(input, new Set(draft.sourceIds.keys()))
    const ours = rows.tables.filter(({ sourceId }) => sourceId === draft.ownSourceId)
    await kernel.sources.copy(baseId, newBaseId, {
      tables: ours.map(({ tableName }) => tableName),
      withData,
      replaced: input.isVisitor ? peopleColumns(rows, owner.id) : [],
    })
    signal.throwIfAborted()
    const after = await readRows(input, new Set(draft.sourceIds.keys()))
    if (!Bun.deepEquals(versionsOf(rows), versionsOf(after))) return false
    const hooks = kernel.registry.get(COPIED_HOOKS)
    const withHooks = input.withHooks !== false && !input.isVisitor
    const hookIds = withHooks ? await hooks.idsOf(baseId) : []
    const known = [...draft.sourceIds, ...hookIds.map((id) => [id, createId('hook')] as const)]
    const fresh = withNewIds(rows, new Map([[baseId, newBaseId], ...known]))
    const copies = fresh.views.map(({ id, tableId }, index) => {
      return [rows.views[index]?.id ?? '', { viewId: id, tableId }] as const
    })
    await renamePlaces(await kernel.sources.engine(newBaseId), new Map(copies))
    const now = new Date().toISOString()
    await bases.copies.finish(owner, newBaseId, [
      ...schema.copiedRows.insertRows({
        tables: fresh.tables.map((table) => ({ ...table, createdAt: now, updatedAt: now })),
        fields: fresh.fields,
      }),
      ...views.insertForCopy({
        views: fresh.views.map((view) => ({
          ...(input.isVisitor ? withPublicOptions(view) : view),
          createdBy: owner.id,
          ownedBy: owner.id,
        })),
        lines: fresh.lines,
      }),
      ...(withHooks ? await hooks.insert(baseId, fresh.ids, owner.id) : []),
    ])
    kernel.events.emit('schema.changed', { baseId: newBaseId, tableId: null, version: 0 })
    if (withData) await records.attachments.shareAll(baseId, newBaseId)
    return true
  }

  return {
    async run(input, { signal, report }) {
      report({ done: 0, total: null, unit: 'tables' })
      for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
        try {
          if (await copyOnce(input, signal)) return { id: input.newBaseId }
        } catch (error) {
          await abandon(input)
          throw error
        }
        await abandon(input)
      }
      throw new AppError('CONFLICT', m.copies_error_base_changed())
    },
    async recover(input) {
      const isComplete = await bases.require(input.newBaseId).then(
        () => true,
        (error) => {
          if (error instanceof AppError) return false
          throw error
        },
      )
      if (isComplete) return { result: { id: input.newBaseId } }
      await bases.copies.abandon(input.newBaseId)
      return null
    },
  }

  async function abandon({ newBaseId }: CopyInput): Promise<void> {
    await bases.copies.abandon(newBaseId).catch((error) => {
      kernel.log.error('a copy that was not completed could not be removed', error, { baseId: newBaseId })
    })
  }
}

const versionsOf = ({ tables, views }: CopiedRows) => [
  tables.map(({ id, version }) => [id, version]).toSorted(),
  views.map(({ id, updatedAt }) => [id, updatedAt]).toSorted(),
]

/** Columns that hold people. Required ones get the copy's owner. */
function peopleColumns({ tables, fields }: CopiedRows, ownerId: string): HomeCopy['replaced'] {
  const names = new Map(tables.map(({ id, tableName }) => [id, tableName]))
  return fields
    .filter((field) => showsPeople(field) && fieldType(field.type).computed === undefined)
    .map(({ tableId, columnName, required }) => ({
      table: names.get(tableId) ?? '',
      column: columnName,
      value: required ? ownerId : null,
    }))
    .filter(({ column }) => column !== '')
}

interface CopiedRows extends SchemaRows, ViewRows {}

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

/** Job name on the wire. */
export const TABLE_COPY_JOB = 'duplicate-model'

export interface TableCopyInput {
  owner: UserActor
  tableId: string
  newTableId: string
  title: string
  withData: boolean
  withViews: boolean
}

/** Copies a table within its base, in one transaction. */
export function createTableCopyJob(
  schema: Pick<SchemaService, 'duplicateTable' | 'hasTable'>,
): JobKind<TableCopyInput> {
  return {
    async run({ owner, ...copy }, context) {
      const { id } = await schema.duplicateTable(owner, copy, runOptions(context))
      return { id }
    },
    recover: async ({ newTableId }) =>
      (await schema.hasTable(newTableId)) ? { result: { id: newTableId } } : null,
  }
}

/** Job name on the wire. */
export const FIELD_COPY_JOB = 'duplicate-column'

export interface FieldCopyInput {
  owner: UserActor
  fieldId: string
  newFieldId: string
  withData: boolean
  place: FieldPosition
}

/** Copies a field within its table, in one transaction. */
export function createFieldCopyJob(
  schema: Pick<SchemaService, 'duplicateField' | 'hasField'>,
): JobKind<FieldCopyInput> {
  return {
    async run({ owner, ...copy }, context) {
      const { id } = await schema.duplicateField(owner, copy, runOptions(context))
      return { id }
    },
    recover: async ({ newFieldId }) =>
      (await schema.hasField(newFieldId)) ? { result: { id: newFieldId } } : null,
  }
}

const runOptions = ({ signal, report }: JobContext) => ({
  signal,
  progress: (done: number, total: number | null) => report({ done, total, unit: 'rows' }),
})
