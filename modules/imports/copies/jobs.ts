import type { UserActor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { showsPeople } from '../../../src/core/fields/traits.ts'
import type { CopiedBase, CopiedTable, NotCopiedPart } from '../../../src/core/table-copies.ts'
import { viewsForVisitors, withPublicOptions } from '../../../src/core/views/public-view.ts'
import type { HomeCopy } from '../../../src/db/copy-home.ts'
import type { JobContext, JobKind } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { tidyUp } from '../../../src/tidy-up.ts'
import type { BasesService } from '../../bases/index.ts'
import type { RecordsService } from '../../records/index.ts'
import type { FieldPosition, SchemaService } from '../../schema/index.ts'
import {
  COPIED_INDEXES,
  type CopiedRows,
  type CopyRows,
  isSameDefinition,
  type RequestedIndex,
} from './copy-rows.ts'

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

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'log' | 'registry'>
  bases: Pick<BasesService, 'require' | 'enter' | 'copies'>
  copyRows: CopyRows
  records: Pick<RecordsService, 'attachments'>
  schema: Pick<SchemaService, 'load'>
}

/** The copy starts over if someone changes the schema in the meantime. */
const MAX_TRIES = 3

/** Copies a base with its tables, fields, views and records as of one moment. */
export function createCopyJob(deps: Deps): JobKind<CopyInput> {
  const { kernel, bases, copyRows, records, schema } = deps

  /** Views without what visitors of the base do not see, such as conditions on addresses of people. */
  async function rowsForVisitors(rows: CopiedRows): Promise<CopiedRows> {
    const ofTable = new Map<string, ReturnType<typeof viewsForVisitors>>()
    for (const { id } of rows.tables) ofTable.set(id, viewsForVisitors((await schema.load(id)).fields))
    const ofView = new Map(rows.views.map(({ id, tableId }) => [id, ofTable.get(tableId)]))
    return {
      ...rows,
      views: rows.views.flatMap((view) => {
        const shown = ofView.get(view.id)?.conditions(view)
        return shown ? [withPublicOptions(shown)] : []
      }),
      lines: rows.lines.flatMap((line) => ofView.get(line.viewId)?.question(line) ?? []),
    }
  }

  /** What the copy does not have; null if the schema has changed meanwhile. */
  async function copyOnce(input: CopyInput, signal: AbortSignal): Promise<NotCopiedPart[] | null> {
    const { baseId, newBaseId, owner, withData } = input
    const original = await bases.require(baseId)
    const draft = await bases.copies.begin(owner, original, {
      baseId: newBaseId,
      title: input.title,
      withSources: !input.isVisitor,
    })
    const read = () => copyRows.read(baseId, draft, { withViews: input.withViews })
    const rows = await read()
    const ours = rows.tables.filter(({ sourceId }) => sourceId === draft.ownSourceId)
    await kernel.sources.copy(baseId, newBaseId, {
      tables: ours.map(({ tableName }) => tableName),
      withData,
      replaced: input.isVisitor ? peopleColumns(rows, owner.id) : [],
    })
    signal.throwIfAborted()
    if (!isSameDefinition(rows, await read())) return null
    const copiedIndexes = kernel.registry.get(COPIED_INDEXES)
    const requested = await copiedIndexes.requestedOf(rows.tables.map(({ id }) => id))
    const isOurs = ({ tableId }: RequestedIndex) => ours.some(({ id }) => id === tableId)
    // Rights may have been taken away since the copy was asked for. Visitors come by a link.
    if (!input.isVisitor) await bases.enter(owner, 'base.duplicate', baseId)
    await copyRows.publish({
      owner,
      baseId,
      newBaseId,
      sourceIds: draft.sourceIds,
      rows: input.isVisitor ? await rowsForVisitors(rows) : rows,
      withHooks: input.withHooks !== false && !input.isVisitor,
      // The original forgets none while its job runs.
      also: (ids) => [
        ...(withData ? [records.attachments.sharing(baseId, newBaseId)] : []),
        ...copiedIndexes.storing(newBaseId, requested.filter(isOurs), ids),
      ],
    })
    // The tables of a connected database are the same in both bases, and an index of them belongs to the one that made it.
    return requested.filter((index) => !isOurs(index)).map((index) => leftIndex(rows, index))
  }

  return {
    async run(input, { signal, report }) {
      report({ done: 0, total: null, unit: 'tables' })
      for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
        try {
          const notCopied = await copyOnce(input, signal)
          if (notCopied !== null) return copiedBase(input, notCopied)
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
    await tidyUp(
      () => bases.copies.abandon(newBaseId),
      (error) =>
        kernel.log.error('a copy that was not completed could not be removed', error, { baseId: newBaseId }),
    )
  }
}

const copiedBase = ({ newBaseId: id }: CopyInput, notCopied: NotCopiedPart[]): CopiedBase => ({
  id,
  ...(notCopied.length > 0 && { notCopied: notCopied.slice(0, MAX_NOT_COPIED) }),
})

/** An index that the copy does not manage, by the fields that it is over. */
function leftIndex({ tables, fields }: CopiedRows, { tableId, terms }: RequestedIndex): NotCopiedPart {
  const titles = terms.map(({ fieldId }) => fields.find(({ id }) => id === fieldId)?.title ?? '')
  const table = tables.find(({ id }) => id === tableId)?.title ?? ''
  return { kind: 'index', name: titles.join(', '), table }
}

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

/** Most parts of a table that are reported as not copied. */
const MAX_NOT_COPIED = 50

/** Job name on the wire. */
export const TABLE_COPY_JOB = 'duplicate-model'

export interface TableCopyInput {
  owner: UserActor
  tableId: string
  newTableId: string
  title: string
  withData: boolean
  withViews: boolean
  /** Its name in a connected database. */
  name?: string | undefined
}

/** Copies a table within its base, in one transaction. */
export function createTableCopyJob(
  schema: Pick<SchemaService, 'duplicateTable' | 'completeForeignCopy' | 'hasTable'>,
): JobKind<TableCopyInput> {
  return {
    async run({ owner, ...copy }, context) {
      const { table, notCopied } = await schema.duplicateTable(owner, copy, runOptions(context))
      return {
        id: table.id,
        ...(notCopied.length > 0 && { notCopied: notCopied.slice(0, MAX_NOT_COPIED) }),
      } satisfies CopiedTable
    },
    async recover({ owner, ...copy }) {
      const { newTableId } = copy
      if (await schema.hasTable(newTableId)) return { result: { id: newTableId } }
      const completed = await schema.completeForeignCopy(owner, copy)
      return completed && { result: { id: completed.id } satisfies CopiedTable }
    },
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
