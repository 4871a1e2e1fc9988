import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { UserActor } from '../../../src/core/actor.ts'
import { toStored } from '../../../src/core/dates.ts'
import { AppError } from '../../../src/core/errors.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import { FIELD_TYPE_NAMES, fieldType } from '../../../src/core/fields/index.ts'
import { isForeignKey, isImportable, isRecordId, withPeople } from '../../../src/core/fields/traits.ts'
import { createId, renameIds } from '../../../src/core/ids.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import type { CopiedField } from '../../../src/core/table-copies.ts'
import { entriesOfTableAfter, lastChangeId } from '../../../src/db/change-log.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { JobContext, JobKind } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { RecordsService } from '../../records/index.ts'
import {
  type NewTable,
  type PreparedTable,
  referencesOf,
  type SchemaService,
  type TableModel,
} from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { dropStaging } from '../import-job.ts'
import type { ImportColumn, ImportOutcome, ImportPlan } from '../plan.ts'
import { fieldsWithChoices } from '../targets/home.ts'
import { runInThread } from '../thread.ts'
import { COPIED_COMMENTS, COPIED_HOOKS } from './copy-rows.ts'

export const TABLE_TO_BASE_JOB = 'copy-table-to-base'

export interface TableToBaseInput {
  owner: UserActor
  tableId: string
  prepared: PreparedTable
  /** The ids of the copied fields, in the order of those of the copy. */
  fieldIds: string[]
  withData: boolean
  withViews: boolean
  /** Absent in jobs of earlier versions, like those of webhooks. */
  withComments?: boolean
  /** The ids of copied webhooks, each with that of its copy. */
  hookIds?: [string, string][]
  /** Moves the original to the trash afterwards. */
  isMove: boolean
  /** Of a move: the last entry of the original's log when it was asked for. Absent in jobs of earlier versions. */
  since?: number
}

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'config' | 'log' | 'registry'>
  schema: Pick<SchemaService, 'load' | 'publishTable' | 'hasTable' | 'deleteTable' | 'deleteTableForever'>
  views: Pick<ViewsService, 'tableViews'>
  records: Pick<RecordsService, 'exports' | 'people' | 'attachments'>
}

/** What copying a table to another base does to its fields. */
export interface FieldsToBase {
  copied: CopiedField[]
  /** Those that are filled with values, in the order of `fieldIds`. */
  inputs: NonNullable<NewTable['fields']>
  fieldIds: string[]
  /** Computed fields that read only fields which are copied as they are. */
  computed: Field[]
}

/**
 * Plans the fields of a copy in another base. Links, and fields computed from what stays behind, become their values. Fields
 * whose values cannot be written are left out.
 */
export function planFieldsToBase(model: TableModel): FieldsToBase {
  const plan: FieldsToBase = { copied: [], inputs: [], fieldIds: [], computed: [] }
  const fields = model.fields.filter(
    (field) => !field.isSystem && !field.isPrimaryKey && !isForeignKey(field),
  )
  const kept = keptFields(fields)
  for (const field of fields) {
    const { id, title, type, description, isDisplay } = field
    const isKept = kept.has(id)
    const isLeft = !isKept && isLeftOut(field)
    plan.copied.push({ id, title, effect: isKept ? 'same' : isLeft ? 'left' : 'values' })
    if (isLeft) continue
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

/** True if the records of a copy have the ids of the original's. */
export const keepsIds = ({ keyFields, primaryKey }: TableModel): boolean =>
  keyFields.length === 1 && isRecordId(primaryKey) && primaryKey.databaseType === null

/** The ids of the fields that are copied as they are: stored ones, and those that are computed from only such. */
function keptFields(fields: readonly Field[]): Set<string> {
  const kept = new Set(fields.filter(({ type }) => isImportable(type)).map(({ id }) => id))
  const computed = fields.filter(({ type, error }) => {
    const { computed: kind } = fieldType(type)
    return error === null && (kind === 'formula' || kind === 'code' || kind === 'button')
  })
  for (let size = -1; size !== kept.size; ) {
    size = kept.size
    for (const field of computed) {
      if (referencesOf(field).every((read) => 'fieldId' in read && kept.has(read.fieldId))) kept.add(field.id)
    }
  }
  return kept
}

function isLeftOut({ type, error }: Field): boolean {
  const { isSecret, computed } = fieldType(type)
  return isSecret === true || error !== null || computed === 'code' || computed === 'button'
}

/** The type of the values of a field that becomes them: as shown, or text. */
function valueType(field: Field): Pick<Field, 'type' | 'options'> {
  const { type, options, isList } = shownType(field)
  const name = FIELD_TYPE_NAMES.find((known) => known === type.name)
  if (!isList && name && isImportable(name)) return { type: name, options }
  return { type: !isList && type.storage === 'datetime' ? 'DateTime' : 'LongText', options: {} }
}

/** Adds the computed fields to a prepared table, with the new ids of the fields that they read. */
export function withComputed(
  prepared: PreparedTable,
  tableId: string,
  { fieldIds, computed, copied }: FieldsToBase,
  hookIds: ReadonlyMap<string, string>,
): { prepared: PreparedTable; fieldIds: string[] } {
  const all = [...fieldIds, ...computed.map(({ id }) => id)]
  const added = computed.map((field): Field => ({ ...field, id: createId('field'), isDisplay: false }))
  const ids = idsOf(tableId, { ...prepared, fields: [...prepared.fields, ...added] }, all)
  const orderOf = new Map(copied.map(({ id }, at) => [ids.get(id) ?? '', at + 1]))
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
 * Copies a table to another base, in whichever database that is: the original is written to a file, as an export does, and a
 * thread reads it into a table that becomes visible with its last step.
 */
export function createTableToBaseJob(deps: Deps): JobKind<TableToBaseInput> {
  const { kernel, schema, records } = deps
  const fileOf = (jobId: string) => join(kernel.config.dataDir, 'copies', `${jobId}.csv`)
  const stagingOf = (jobId: string) => `sheaf_import_${jobId}`

  async function run(
    input: TableToBaseInput,
    { jobId, signal, report }: JobContext,
  ): Promise<{ id: string; baseId: string; rows: number; cellsLeftOut: number }> {
    const { prepared, owner, tableId } = input
    const { baseId } = prepared
    const engine = await kernel.sources.engine(baseId)
    const staging = stagingOf(jobId)
    const model = await schema.load(tableId)
    const changes = await changesOf(input, model)
    const path = fileOf(jobId)
    try {
      await engine.write(async (tx) => {
        for (const statement of engine.dialect.createTable(staging, prepared.columns)) await tx.run(statement)
      })
      const key = keepsIds(model) ? model.primaryKey.id : null
      if (input.withData) await exportTo(path, input, key, signal)
      const members = await records.people(owner, baseId)
      const outcome = input.withData
        ? await runInThread(
            planOf(input, key, { jobId, path, staging, members, location: engine.location }),
            {
              engine,
              signal,
              progress: (done, total) => report({ done, total, unit: 'rows' }),
              verify: async () => {},
              files: (paths) => records.attachments.claimKnown(owner, baseId, paths),
            },
          )
        : null
      if (outcome === null) await indexStaging(engine, staging, prepared)
      else if (key !== null) await continueNumbering(engine, staging, prepared)
      signal.throwIfAborted()
      const table = await publish(input, outcome, { engine, staging, keepsIds: key !== null })
      if (input.isMove) {
        await removeOriginal(input, model, changes)
        await turnOnHooks(input)
      }
      return {
        id: table.id,
        baseId,
        rows: outcome?.rows ?? 0,
        cellsLeftOut: outcome ? outcome.cellsRefused + outcome.rowsRefused : 0,
      }
    } finally {
      await rm(path, { force: true })
      await rm(`${path}.report`, { force: true })
      await dropStaging(engine, staging).catch((error) =>
        kernel.log.error('a copy of a table could not be tidied up', error, { baseId }),
      )
    }
  }

  async function indexStaging(engine: Engine, staging: string, prepared: PreparedTable): Promise<void> {
    await engine.write(async (tx) => {
      for (const statement of engine.dialect.createIndex(staging, ['nc_order', keyOf(prepared)]))
        await tx.run(statement)
    })
  }

  /** New records get ids after those of the copied ones. */
  async function continueNumbering(engine: Engine, staging: string, prepared: PreparedTable): Promise<void> {
    const { dialect } = engine
    await engine.write(async (tx) => {
      const [row] = await tx.all<{ last: number | null }>({
        sql: `select max(${dialect.quote(keyOf(prepared))}) as last from ${dialect.quote(staging)}`,
        params: [],
      })
      if (row?.last == null) return
      for (const statement of dialect.numberAfter(staging, Number(row.last))) await tx.run(statement)
    })
  }

  /** Writes the records of the original to a file. @param key the field of their ids; null: they get new ones */
  async function exportTo(
    path: string,
    { owner, tableId, fieldIds, prepared }: TableToBaseInput,
    key: string | null,
    signal: AbortSignal,
  ): Promise<void> {
    await mkdir(join(kernel.config.dataDir, 'copies'), { recursive: true, mode: 0o700 })
    const filled = [...(key === null ? [] : [key]), ...fieldIds.slice(0, filledFields(prepared).length)]
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
    key: string | null,
    at: Pick<ImportPlan, 'jobId' | 'path' | 'staging' | 'location'> & { members: Person[] },
  ): ImportPlan {
    const { members, ...place } = at
    const ids = key === null ? [] : prepared.fields.filter(({ isPrimaryKey }) => isPrimaryKey)
    const columns = [...ids, ...filledFields(prepared)].map(
      ({ id, title, columnName, type, options, isPrimaryKey }, index): ImportColumn => ({
        index,
        title,
        fieldId: id,
        column: columnName,
        type: isPrimaryKey ? 'Number' : type,
        options: isPrimaryKey ? {} : withPeople(type, options, members),
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
        { column: 'created_at', value: toStored(Date.now()) },
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

  async function publish(
    input: TableToBaseInput,
    outcome: ImportOutcome | null,
    filled: { engine: Engine; staging: string; keepsIds: boolean },
  ) {
    const { prepared, owner, tableId, fieldIds, withViews } = input
    const ids = idsOf(tableId, prepared, fieldIds)
    const fields = fieldsWithChoices(prepared.fields, outcome?.choices ?? {})
    const views = await deps.views.tableViews.forCopies([tableId], withViews)
    return schema.publishTable(
      owner,
      { ...prepared, fields },
      {
        staging: filled.staging,
        imported: outcome?.rows ?? 0,
        views: { copied: views, ids },
        also: [
          ...(await commentsOf(input, ids, outcome !== null && filled.keepsIds ? filled : null)),
          ...(await hooksOf(input, ids)),
        ],
      },
    )
  }

  /** Statements that store the comments of the records in the staging table; null: no record keeps its id. */
  async function commentsOf(
    { prepared, tableId, withComments }: TableToBaseInput,
    ids: ReadonlyMap<string, string>,
    filled: { engine: Engine; staging: string } | null,
  ): Promise<MetaStatement[]> {
    if (!withComments || filled === null) return []
    const { engine, staging } = filled
    const { quote, render } = engine.dialect
    const key = sql.raw(quote(keyOf(prepared)))
    return kernel.registry.get(COPIED_COMMENTS).insert(tableId, {
      baseId: prepared.baseId,
      tableId: prepared.tableId,
      ids,
      async has(recordIds) {
        const numbers = recordIds.map(Number).filter(Number.isSafeInteger)
        if (numbers.length === 0) return new Set()
        const rows = await engine.all<{ id: number }>(
          render(
            sql`select ${key} as id from ${sql.raw(quote(staging))} where ${key} in (${sql.raw(numbers.join(', '))})`,
          ),
        )
        return new Set(rows.map(({ id }) => String(id)))
      },
    })
  }

  async function hooksOf(
    { prepared, owner, tableId, hookIds = [], isMove }: TableToBaseInput,
    ids: ReadonlyMap<string, string>,
  ): Promise<MetaStatement[]> {
    if (hookIds.length === 0) return []
    const { table } = await schema.load(tableId)
    const renamed = new Map([...ids, ...hookIds, [table.baseId, prepared.baseId]])
    return kernel.registry.get(COPIED_HOOKS).insert(table.baseId, renamed, owner.id, { isMove })
  }

  /** The last entry of the original's log: a move must not leave later changes behind. Null for a copy. */
  async function changesOf({ isMove }: TableToBaseInput, { table }: TableModel): Promise<number | null> {
    return isMove ? lastChangeId(await kernel.sources.engine(table.baseId)) : null
  }

  /** Moves the original to the trash. @throws CONFLICT, without the copy, if somebody changed it meanwhile */
  async function removeOriginal(
    { owner, prepared }: TableToBaseInput,
    { table }: TableModel,
    since: number | null,
  ): Promise<void> {
    const engine = await kernel.sources.engine(table.baseId)
    try {
      const changed = await entriesOfTableAfter(engine, table.id, since ?? 0, '%')
      if (changed.length > 0)
        throw new AppError('CONFLICT', m.copies_error_table_changed({ table: table.title }))
      await schema.deleteTable(owner, table.id)
    } catch (error) {
      await schema.deleteTable(owner, prepared.tableId)
      await schema.deleteTableForever(owner, prepared.tableId)
      throw error
    }
  }

  /** Null if it is in the trash already. */
  async function findOriginal(tableId: string): Promise<TableModel | null> {
    try {
      return await schema.load(tableId)
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return null
      throw error
    }
  }

  /** Those of a table that has been moved are called for the copy from now on: tables in the trash call none. */
  const turnOnHooks = ({ hookIds = [] }: TableToBaseInput): Promise<void> =>
    kernel.registry.get(COPIED_HOOKS).turnOn(new Map(hookIds))

  return {
    run,
    async recover(input, { id }) {
      const { prepared, tableId, isMove, since } = input
      await rm(fileOf(id), { force: true })
      await rm(`${fileOf(id)}.report`, { force: true })
      if (!(await kernel.sources.exists(prepared.baseId))) return null
      await dropStaging(await kernel.sources.engine(prepared.baseId), stagingOf(id))
      if (!(await schema.hasTable(prepared.tableId))) return null
      // Cut off between the two steps of a move: the second follows, or the first is taken back.
      if (isMove && since !== undefined) {
        const original = await findOriginal(tableId)
        if (original) await removeOriginal(input, original, since)
        await turnOnHooks(input)
      }
      return { result: { id: prepared.tableId, baseId: prepared.baseId, rows: 0, cellsLeftOut: 0 } }
    },
  }
}

const keyOf = ({ fields }: PreparedTable): string =>
  fields.find((field) => field.isPrimaryKey)?.columnName ?? 'id'

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
