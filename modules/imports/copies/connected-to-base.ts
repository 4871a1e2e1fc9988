import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { nowMs } from '../../../src/clock.ts'
import type { UserActor } from '../../../src/core/actor.ts'
import { toStored } from '../../../src/core/dates.ts'
import { isImportable, withPeople } from '../../../src/core/fields/traits.ts'
import { createId, renameIds } from '../../../src/core/ids.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { JobContext, JobKind } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { TableMove } from '../../../src/table-moves.ts'
import { tidyUp } from '../../../src/tidy-up.ts'
import type { RecordsService } from '../../records/index.ts'
import type { NewTable, PreparedTable, SchemaService, TableModel } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { dropStaging } from '../import-job.ts'
import type { ImportColumn, ImportOutcome, ImportPlan } from '../plan.ts'
import { fieldsWithChoices } from '../targets/home.ts'
import { runInThread } from '../thread.ts'
import { COPIED_HOOKS, rightToCopy } from './copy-rows.ts'
import { planConnectedFields, valueType } from './plan-fields.ts'

export const TABLE_TO_BASE_JOB = 'copy-table-to-base'

export interface TableToBaseInput {
  owner: UserActor
  tableId: string
  title: string
  prepared: PreparedTable
  /** The ids of the copied fields, in the order of those of the copy. */
  fieldIds: string[]
  withData: boolean
  withViews: boolean
  /** The ids of copied webhooks, each with that of its copy. */
  hookIds: [string, string][]
}

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'config' | 'log' | 'registry' | 'tableMoves'>
  schema: Pick<SchemaService, 'load' | 'openTable' | 'publishTable' | 'hasTable'>
  views: Pick<ViewsService, 'tableViews'>
  records: Pick<RecordsService, 'exports' | 'people' | 'attachments'>
}

/** What copying a table of a connected database to a base does to its fields. */
interface FieldsToBase {
  /** Those that are filled with values, in the order of `fieldIds`. */
  inputs: NonNullable<NewTable['fields']>
  fieldIds: string[]
  /** Computed fields that read only fields which are copied as they are. */
  computed: Field[]
  /** The ids of all that have a copy, in the order of the original. */
  order: string[]
}

/** Plans the fields of the copy of a table of a connected database. */
export function planFieldsToBase(model: TableModel): FieldsToBase {
  const plan: FieldsToBase = { inputs: [], fieldIds: [], computed: [], order: [] }
  const effects = planConnectedFields(model)
  for (const field of model.fields) {
    const { id, title, type, description, isDisplay } = field
    const effect = effects.get(id)
    if (effect === undefined) continue
    plan.order.push(id)
    if (effect === 'left') continue
    const isKept = effect === 'same'
    if (!isImportable(type) && isKept) {
      plan.computed.push(field)
      continue
    }
    const values = isKept ? field : valueType(field)
    const { required, unique, defaultValue } = isKept
      ? field
      : { required: false, unique: false, defaultValue: null }
    plan.fieldIds.push(id)
    plan.inputs.push({
      title,
      description,
      isDisplay,
      type: values.type,
      options: values.options,
      required,
      unique,
      defaultValue,
    })
  }
  return plan
}

/** Adds the computed fields to a prepared table, with the new ids of the fields that they read. */
export function withComputed(
  prepared: PreparedTable,
  tableId: string,
  { fieldIds, computed, order }: FieldsToBase,
  hookIds: ReadonlyMap<string, string>,
): { prepared: PreparedTable; fieldIds: string[] } {
  const all = [...fieldIds, ...computed.map(({ id }) => id)]
  const added = computed.map((field): Field => ({ ...field, id: createId('field'), isDisplay: false }))
  const ids = idsOf(tableId, { ...prepared, fields: [...prepared.fields, ...added] }, all)
  const orderOf = new Map(order.map((id, at) => [ids.get(id) ?? '', at + 1]))
  const first = Math.min(...ownFields(prepared).map(({ order }) => order))
  const fields = [
    ...prepared.fields,
    ...added.map((field) => ({
      ...field,
      tableId: prepared.tableId,
      options: { ...renameIds(field.options, ids), ...webhookOf(field, hookIds) },
      result: renameIds(field.result, ids),
    })),
  ].map((field) => {
    const at = orderOf.get(field.id)
    return at === undefined ? field : { ...field, order: first + at - 1 }
  })
  return { prepared: { ...prepared, fields }, fieldIds: all }
}

/** A button of the copy triggers the copy of its webhook, or none. */
const webhookOf = ({ options }: Field, hookIds: ReadonlyMap<string, string>) =>
  'webhookId' in options && { webhookId: hookIds.get(String(options.webhookId)) ?? null }

/**
 * Copies a table of a connected database to a base: the original is written to a file, as an export does, and a thread
 * reads it into a table that becomes visible with its last step.
 */
export function createTableToBaseJob(deps: Deps): JobKind<TableToBaseInput> {
  const { kernel, schema, records } = deps
  const fileOf = (jobId: string) => join(kernel.config.dataDir, 'copies', `${jobId}.csv`)
  const stagingOf = (jobId: string) => `sheaf_import_${jobId}`

  async function run(
    input: TableToBaseInput,
    { jobId, signal, report }: JobContext,
  ): Promise<{ id: string; baseId: string; rows: number; cellsLeftOut: number }> {
    const { prepared, owner } = input
    const { baseId } = prepared
    const engine = await kernel.sources.engine(baseId)
    const staging = stagingOf(jobId)
    const path = fileOf(jobId)
    try {
      await engine.write(async (tx) => {
        for (const statement of engine.dialect.createTable(staging, prepared.columns)) await tx.run(statement)
      })
      if (input.withData) await exportTo(path, input, signal)
      const members = await records.people(owner, baseId)
      const outcome = input.withData
        ? await runInThread(planOf(input, { jobId, path, staging, members, location: engine.location }), {
            engine,
            signal,
            progress: (done, total) => report({ done, total, unit: 'rows' }),
            verify: async () => {},
            files: (paths) => records.attachments.claimKnown(owner, baseId, paths),
          })
        : null
      if (outcome === null) await indexStaging(engine, staging, prepared)
      signal.throwIfAborted()
      const table = await publish(input, outcome, staging)
      return {
        id: table.id,
        baseId,
        rows: outcome?.rows ?? 0,
        cellsLeftOut: outcome ? outcome.cellsRefused + outcome.rowsRefused : 0,
      }
    } finally {
      await rm(path, { force: true })
      await rm(`${path}.report`, { force: true })
      await tidyUp(
        () => dropStaging(engine, staging),
        (error) => kernel.log.error('a copy of a table could not be tidied up', error, { baseId }),
      )
    }
  }

  async function indexStaging(engine: Engine, staging: string, prepared: PreparedTable): Promise<void> {
    await engine.write(async (tx) => {
      for (const statement of engine.dialect.createIndex(staging, ['nc_order', keyOf(prepared)]))
        await tx.run(statement)
    })
  }

  /** Writes the records of the original to a file. */
  async function exportTo(
    path: string,
    { owner, tableId, fieldIds, prepared }: TableToBaseInput,
    signal: AbortSignal,
  ): Promise<void> {
    await mkdir(join(kernel.config.dataDir, 'copies'), { recursive: true, mode: 0o700 })
    const filled = fieldIds.slice(0, filledFields(prepared).length)
    const { body } = await records.exports.open(
      owner,
      { query: { tableId, timeZone: 'UTC' }, format: 'csv', fieldIds: filled, options: { isGuarded: false } },
      () => signal.throwIfAborted(),
    )
    const file = Bun.file(path).writer()
    try {
      for await (const bytes of body) {
        await file.write(bytes)
        await file.flush()
      }
    } finally {
      await file.end()
    }
  }

  function planOf(
    { prepared, owner }: TableToBaseInput,
    at: Pick<ImportPlan, 'jobId' | 'path' | 'staging' | 'location'> & { members: Person[] },
  ): ImportPlan {
    const { members, ...place } = at
    const columns = filledFields(prepared).map(
      ({ id, title, columnName, type, options }, index): ImportColumn => ({
        index,
        title,
        fieldId: id,
        column: columnName,
        type,
        options: withPeople(type, options, members),
        // A field may be required since some of its cells were left blank.
        required: false,
        fallback: null,
        grows: true,
      }),
    )
    return {
      ...place,
      actorId: owner.id,
      reportPath: `${place.path}.report`,
      format: {
        kind: 'csv',
        delimiter: ',',
        quote: '"',
        encoding: 'utf-8',
        header: true,
        guarded: false,
        decimal: '.',
      },
      columns,
      constants: [
        { column: 'created_at', value: toStored(nowMs()) },
        { column: 'created_by', value: owner.id },
      ],
      width: columns.length,
      rowColumn: 'nc_order',
      stagedUpTo: 0,
      maxFiles: Number.MAX_SAFE_INTEGER,
      timeZone: 'UTC',
      finish: { kind: 'index', columns: ['nc_order', keyOf(prepared)] },
    }
  }

  async function publish(input: TableToBaseInput, outcome: ImportOutcome | null, staging: string) {
    const { prepared, owner, tableId, fieldIds, withViews, hookIds } = input
    // Rights in the base of the original may have been taken away since the copy was asked for.
    const original = await schema.openTable(owner, rightToCopy({ withHooks: hookIds.length > 0 }), tableId)
    const ids = idsOf(tableId, prepared, fieldIds)
    const fields = fieldsWithChoices(prepared.fields, outcome?.choices ?? {})
    const views = await deps.views.tableViews.forCopies([tableId], withViews)
    const copy = copyOf(original, { ...prepared, fields }, ids)
    const parts = kernel.tableMoves.filter(({ isCopied }) => isCopied)
    const statements = await Promise.all(parts.map((part) => part.statements(copy)))
    const table = await schema.publishTable(
      owner,
      { ...prepared, fields },
      {
        staging,
        imported: outcome?.rows ?? 0,
        views: { copied: views, ids },
        also: [...(await hooksOf(input, ids)), ...statements.flat()],
      },
    )
    for (const part of parts) part.moved?.(copy)
    return table
  }

  async function hooksOf(
    { prepared, owner, tableId, hookIds }: TableToBaseInput,
    ids: ReadonlyMap<string, string>,
  ): Promise<MetaStatement[]> {
    if (hookIds.length === 0) return []
    const { table } = await schema.load(tableId)
    const renamed = new Map([...ids, ...hookIds, [table.baseId, prepared.baseId]])
    return kernel.registry.get(COPIED_HOOKS).insert(table.baseId, renamed, owner.id)
  }

  return {
    run,
    async recover(input, { id }) {
      const { prepared } = input
      await rm(fileOf(id), { force: true })
      await rm(`${fileOf(id)}.report`, { force: true })
      if (!(await kernel.sources.exists(prepared.baseId))) return null
      await dropStaging(await kernel.sources.engine(prepared.baseId), stagingOf(id))
      if (!(await schema.hasTable(prepared.tableId))) return null
      return { result: { id: prepared.tableId, baseId: prepared.baseId, rows: 0, cellsLeftOut: 0 } }
    },
  }
}

const keyOf = ({ fields }: PreparedTable): string =>
  fields.find((field) => field.isPrimaryKey)?.columnName ?? 'id'

/** What other modules take along. A field stays as it is if its values have the same type in the copy. */
function copyOf(
  { table, fields }: TableModel,
  prepared: PreparedTable,
  ids: ReadonlyMap<string, string>,
): TableMove {
  const copies = new Map(prepared.fields.map((field) => [field.id, field]))
  const columns = fields.flatMap(({ id, type, columnName: from }) => {
    const copy = copies.get(ids.get(id) ?? '')
    return copy && from !== '' && copy.type === type ? [[id, { from, to: copy.columnName }] as const] : []
  })
  return {
    fromBaseId: table.baseId,
    toBaseId: prepared.baseId,
    tables: new Map([[table.id, prepared.tableId]]),
    fields: ids,
    views: new Map(),
    columns: new Map(columns),
  }
}

/** The fields that are filled from the file, in the order of its columns. */
const filledFields = (prepared: PreparedTable): Field[] =>
  ownFields(prepared).filter(({ columnName }) => columnName !== '')

const ownFields = ({ fields }: PreparedTable): Field[] =>
  fields.filter((field) => !field.isSystem && !field.isPrimaryKey)

/** The new ids of a table and its fields, by the old ones. */
const idsOf = (tableId: string, prepared: PreparedTable, fieldIds: readonly string[]): Map<string, string> =>
  new Map([
    [tableId, prepared.tableId],
    ...ownFields(prepared).map(({ id }, at): [string, string] => [fieldIds[at] ?? '', id]),
  ])
