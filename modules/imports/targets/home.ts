import { nowIso, nowMs } from '../../../src/clock.ts'
import { toStored } from '../../../src/core/dates.ts'
import { AppError } from '../../../src/core/errors.ts'
import { autoNumber } from '../../../src/core/fields/auto-number.ts'
import { type Choice, withChoices } from '../../../src/core/fields/choices.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { listImports } from '../../../src/db/change-log/entries.ts'
import { requireStoredNames } from '../../../src/db/names-of-records.ts'
import { isStopping } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AuthService } from '../../auth/index.ts'
import type { RecordsService } from '../../records/index.ts'
import type { SchemaService, TableModel } from '../../schema/index.ts'
import { type ImportInput, isPreview } from '../job-input.ts'
import {
  type Constant,
  type ImportColumn,
  type ImportOutcome,
  isLinkColumn,
  isSameLink,
  type LinkColumn,
  type NewRecords,
  ROW_COLUMN,
  stampsOf,
  tablesOf,
  toImportLink,
  UPDATE_COLUMNS,
} from '../plan.ts'
import type { ImportTarget, OpenTarget, TargetRun } from './target.ts'

export interface HomeDeps {
  kernel: Pick<Kernel, 'sources' | 'events'>
  schema: Pick<SchemaService, 'load' | 'publishTable' | 'hasTable'>
  records: Pick<RecordsService, 'openLink'>
  access: Pick<AuthService['access'], 'authorize'>
}

/** Tables of a base's home: the thread of the import writes them as sets, and a new one is its staging table. */
export function createHomeTarget({ kernel, schema, records, access }: HomeDeps): ImportTarget {
  async function open(input: ImportInput, run: TargetRun): Promise<OpenTarget> {
    const { target } = input
    const model = target.kind === 'new' ? null : await schema.load(target.tableId)
    const plan = await planOf(input, model)
    return {
      plan,
      isFilledByThread: true,
      stagingColumns:
        target.kind === 'new'
          ? target.prepared.columns
          : stagingColumns(input.columns, model, target.update !== undefined),
      async verify() {
        // Publishing a new table asks for its right.
        if (!model) return
        await access.authorize(input.actor, 'import.append', input.baseId)
        await requireUnchanged(await schema.load(model.table.id), input.columns)
      },
      async complete(outcome) {
        // A new table can still be cancelled here; appended records are saved already. A server that stops waits for it.
        if (model === null && !isStopping(run.signal)) run.signal.throwIfAborted()
        return { ...(await publish(input, outcome, run, model)), outcome }
      },
      keepsStaging: () => false,
    }
  }

  async function planOf(input: ImportInput, model: TableModel | null): Promise<OpenTarget['plan']> {
    const { actor, columns, target } = input
    const system = [
      { column: 'created_at', value: toStored(nowMs()) },
      { column: 'created_by', value: actor.id },
    ]
    if (target.kind === 'new') {
      const key = target.prepared.fields.find((field) => field.isPrimaryKey)?.columnName ?? 'id'
      const finish = { kind: 'index' as const, columns: ['nc_order', key] }
      return { constants: system, rowColumn: 'nc_order', finish }
    }
    if (!model || target.kind !== 'append') throw new Error('Choose the table to import into')
    const creates: Record<number, NewRecords> = {}
    for (const [at, column] of columns.entries()) {
      if (!isLinkColumn(column) || !column.creates) continue
      const related = await schema.load(column.link.related.tableId)
      const name = nameColumn(column, related)
      const constants = [...system, ...column.creates.constants]
      creates[at] = { name, finish: appendTo(related, [name], constants) }
    }
    const finish = {
      ...appendTo(model, columns, [...system, ...target.constants]),
      isPreview: isPreview(input),
      creates,
      update: target.update && {
        ...target.update,
        keys: target.update.keys.map((fieldId) => columns.findIndex((column) => column.fieldId === fieldId)),
        stamps: stampsOf(model),
      },
    }
    return { constants: [], rowColumn: ROW_COLUMN, finish }
  }

  /** How records are added to a table. */
  function appendTo(
    { table, fields, primaryKey }: TableModel,
    columns: readonly ImportColumn[],
    constants: Constant[],
  ): NewRecords['finish'] {
    const unique = fields.filter(
      (field) => field.unique && columns.some(({ fieldId }) => fieldId === field.id),
    )
    return {
      kind: 'append',
      target: table.tableName,
      tableId: table.id,
      keyColumn: primaryKey.columnName,
      orderColumn: 'nc_order',
      constants,
      numbered: fields
        .filter(numbersRecords)
        .map(({ columnName, options }) => ({ column: columnName, ...autoNumber.options.parse(options) })),
      unique: unique.map(({ columnName, title }) => ({ column: columnName, title })),
      isPreview: false,
      creates: {},
    }
  }

  /** Publishes the filled staging table as the new table, or announces the appended records. */
  async function publish(
    input: ImportInput,
    outcome: ImportOutcome,
    { staging }: TargetRun,
    model: TableModel | null,
  ): Promise<{ tableId: string; title: string }> {
    const { target, baseId, actor } = input
    if (target.kind === 'new') {
      const fields = fieldsWithChoices(target.prepared.fields, outcome.choices)
      const { id, title } = await schema.publishTable(
        actor,
        { ...target.prepared, fields },
        { staging, imported: outcome.rows },
      )
      return { tableId: id, title }
    }
    if (!model) throw new Error('Choose the table to import into')
    const announce = (id: number | null, tableIds: string[]) => {
      if (id === null) return
      const at = nowIso()
      kernel.events.emit('records.changed', {
        id,
        baseId,
        actorId: actor.id,
        at,
        records: [],
        truncated: true,
        tableIds,
      })
    }
    for (const { changeId, tableId } of outcome.created) announce(changeId, [tableId])
    announce(outcome.changeId, tablesTouched(target.tableId, input.columns))
    return { tableId: model.table.id, title: model.table.title }
  }

  /** @throws CONFLICT if a field that is being filled was changed or deleted */
  async function requireUnchanged(model: TableModel, columns: ImportColumn[]): Promise<void> {
    for (const column of columns) {
      const field = model.field(column.fieldId)
      const isStored = column.isRecordId ? field?.isPrimaryKey : field?.columnName === column.column
      const isSame = isLinkColumn(column)
        ? field !== undefined && (await isSameAsNow(model, column))
        : isStored && field?.type === column.type
      if (isSame) continue
      throw new AppError('CONFLICT', m.imports_error_field_changed({ field: column.title }))
    }
  }

  /** False for a link that is broken or leads to other records by now. */
  async function isSameAsNow(model: TableModel, { fieldId, link }: LinkColumn): Promise<boolean> {
    try {
      const now = toImportLink(await records.openLink(model, fieldId), [])
      if (!link.rowsOf) requireStoredNames(now.related)
      return isSameLink(link, now)
    } catch (error) {
      if (error instanceof AppError) return false
      throw error
    }
  }

  return {
    open,
    tableOf({ target }) {
      if (target.kind !== 'new') return { tableId: target.tableId, title: '', isNewTable: false }
      return { tableId: target.prepared.tableId, title: target.prepared.title, isNewTable: true }
    },
    async findFinished({ baseId, target }, jobId) {
      const engine = await kernel.sources.engine(baseId)
      if (target.kind === 'new') {
        if (!(await schema.hasTable(target.prepared.tableId))) return null
        const { table } = await schema.load(target.prepared.tableId)
        const name = engine.dialect.quote(table.tableName)
        const [row] = await engine.all<{ n: number }>({
          sql: `select count(*) as n from ${name}`,
          params: [],
        })
        return row?.n ?? 0
      }
      const imports = await listImports(engine, target.tableId)
      const finished = imports.find(({ detail }) => (detail as { jobId?: string } | null)?.jobId === jobId)
      return finished?.records ?? null
    },
  }
}

/** The display field of a linked table, as the column of an import that adds records with a name. */
function nameColumn({ link }: LinkColumn, { displayField }: TableModel): ImportColumn {
  const { id: fieldId, title, columnName: column, type } = displayField
  const { options } = link.related.displayField
  return {
    index: 0,
    title,
    fieldId,
    column,
    type,
    options,
    required: false,
    fallback: null,
    grows: false,
  }
}

/** The table and those that hold or show its links. */
const tablesTouched = (tableId: string, columns: ImportColumn[]): string[] => [
  ...new Set([tableId, ...columns.filter(isLinkColumn).flatMap(({ link }) => tablesOf(link))]),
]

const PLAIN = { required: false, defaultValue: null }

const UPDATE_STAGING = [
  { name: UPDATE_COLUMNS.id, storage: 'integer' as const, ...PLAIN },
  { name: UPDATE_COLUMNS.state, storage: 'integer' as const, ...PLAIN },
  { name: UPDATE_COLUMNS.kept, storage: 'longText' as const, ...PLAIN },
]

/** Columns of the staging table for an import into an existing table. */
function stagingColumns(columns: ImportColumn[], model: TableModel | null, isUpdate: boolean) {
  const storageOf = (fieldId: string) => fieldType(model?.field(fieldId)?.type ?? '').storage
  return [
    { name: ROW_COLUMN, storage: 'id' as const, ...PLAIN },
    ...columns.map(({ column, fieldId, isRecordId }) => ({
      name: column,
      // Only the row's number is the staging table's own key.
      storage: isRecordId ? ('integer' as const) : storageOf(fieldId),
      ...PLAIN,
    })),
    ...(isUpdate ? UPDATE_STAGING : []),
  ]
}

/** The fields with the choices that their cells have beside those of the select fields. */
export const fieldsWithChoices = (fields: readonly Field[], foundIn: ImportOutcome['choices']): Field[] =>
  fields.map((field) => {
    const found = foundIn[field.id]
    if (found === undefined) return field
    // Selects are stored as text, so the values stay as they are.
    if (found === null) return { ...field, type: 'SingleLineText' as const, options: {} }
    const choices = withChoices((field.options.choices ?? []) as Choice[], found)
    return { ...field, options: { ...field.options, choices } }
  })
