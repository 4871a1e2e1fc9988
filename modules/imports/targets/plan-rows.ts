import type { Values } from '../../../src/core/changes.ts'
import type { UpdatedRecord } from '../../../src/core/csv/import-result.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { readLinks, readNameList } from '../../../src/core/fields/list-value.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { isFilledByImport } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { ColumnValue } from '../../../src/db/column-values.ts'
import { type NamedTable, readNames, recordsNamed } from '../../../src/db/names-of-records.ts'
import { exactNumber } from '../../../src/dialects/exact-number.ts'
import { m } from '../../../src/messages.gen.ts'
import type { StoredRecord } from '../../records/index.ts'
import type { ImportColumn } from '../plan.ts'
import { missingValue, rowSkipped } from '../worker/convert.ts'
import { unknownRecords } from '../worker/resolve-names.ts'
import { type ConnectedDeps, type ConnectedImport, toNamedRecords } from './connected-import.ts'
import { type CellProblem, RowState, readReason, type StagedRow } from './staged-rows.ts'

/** A row to write: a new record, or new values of an existing one. */
export interface RowToWrite {
  kind: 'write'
  row: StagedRow
  /** Null for a new record. */
  id: RecordId | null
  values: Values
  /** The values that an update replaces. */
  before: Values | null
  problems: CellProblem[]
}

export type PlannedRow =
  | RowToWrite
  | { kind: 'decided'; row: StagedRow; state: RowState; problems: CellProblem[] }

/** A column of the file and its field. */
interface PlannedColumn {
  /** Position among the columns of the import. */
  at: number
  column: ImportColumn
  field: Field
}

interface LinkColumn extends PlannedColumn {
  link: LinkOptions
  related: NamedTable
  read: (statement: Parameters<ConnectedImport['engine']['all']>[0]) => Promise<ColumnValue[]>
  engine: ConnectedImport['engine']
}

const MAX_TEXT = 200

export type RowPlanner = Awaited<ReturnType<typeof createRowPlanner>>

/** Decides what each staged row does to a table of a connected database, with a constant number of reads per chunk. */
export async function createRowPlanner(
  { records, schema }: Pick<ConnectedDeps, 'records' | 'schema'>,
  { input, update, model }: Pick<ConnectedImport, 'input' | 'update' | 'model'>,
) {
  const columns = input.columns.map((column, at): PlannedColumn => {
    const field = model.field(column.fieldId)
    if (!field) throw new Error(`The field of column ${at} is gone`)
    return { at, column, field }
  })
  const keys = (update?.keys ?? []).flatMap((id) => columns.filter(({ field }) => field.id === id))
  const links = await openLinks()
  const isLink = new Set(links.map(({ at }) => at))
  const cells = columns.filter(({ at }) => !isLink.has(at))
  const written = cells.filter((column) => !keys.includes(column))
  const valueFields = cells.map(({ field }) => field)

  async function openLinks(): Promise<LinkColumn[]> {
    const people = await records.people(input.actor, input.baseId)
    const opened: LinkColumn[] = []
    for (const column of columns) {
      const link = linkOf(column.field)
      if (!link) continue
      const open = await records.openLink(model, column.field.id)
      const engine = await schema.engineOf(open.related.table)
      opened.push({
        ...column,
        link,
        engine,
        related: toNamedRecords(open, people),
        read: (statement) => engine.all<ColumnValue>(statement, { scan: true }),
      })
    }
    return opened
  }

  /** The values of a row's cells by field, links left out. */
  function valuesOf({ texts }: StagedRow): Values {
    return Object.fromEntries(cells.map(({ at, field }) => [field.id, stagedValue(field, texts[at] ?? null)]))
  }

  const keyOf = (values: Values): CellValue[] => keys.map(({ field }) => values[field.id] ?? null)

  /** The ids that the cells of link columns name, and what is wrong with them, by row. */
  async function resolveLinks(rows: readonly StagedRow[]) {
    const resolved = new Map<number, Map<string, { ids: RecordId[]; problem: CellProblem | null }>>(
      rows.map(({ number }) => [number, new Map()]),
    )
    for (const { at, column, field, link, related, engine, read } of links) {
      const texts = rows.flatMap(({ texts }) => texts[at] ?? [])
      const names = await recordsNamed(
        engine,
        related,
        texts.flatMap((text) => [text, ...readNameList(text)]),
        read,
      )
      for (const row of rows) {
        const text = row.texts[at] ?? ''
        const { ids, missing, isTooMany } = readNames(text, link, names)
        const reason = isTooMany
          ? m.imports_report_several_records({ field: field.title })
          : missing.length > 0
            ? unknownRecords(related.table.title, missing)
            : null
        const problem = reason === null ? null : { column: column.title, value: text, reason }
        resolved.get(row.number)?.set(field.id, { ids, problem })
      }
    }
    return resolved
  }

  /** The ids of the records that existing ones link to, by record and field. */
  async function linkedNow(ids: readonly RecordId[]): Promise<Map<string, Map<string, RecordId[]>>> {
    if (links.length === 0 || ids.length === 0) return new Map()
    const opened = await records.open(input.actor, model.table.id)
    const query = { tableId: model.table.id, recordIds: [...ids], limit: ids.length, offset: 0 }
    const fields = links.map(({ field }) => field)
    const page = await records.page(opened, query, fields, 'all')
    return new Map(
      page.ids.map((id, row) => [
        String(id),
        new Map(
          fields.map((field, at) => [
            field.id,
            readLinks(page.rows[row]?.[at] ?? null).records.map((record) => record.id),
          ]),
        ),
      ]),
    )
  }

  const refused = (row: StagedRow, { title }: ImportColumn, reason: string, value = ''): PlannedRow => ({
    kind: 'decided',
    row,
    state: RowState.refused,
    problems: [{ column: title, value, reason: rowSkipped(reason) }],
  })

  /** A new record, with the defaults of required fields. */
  function planInsert(
    row: StagedRow,
    values: Values,
    linked: ReadonlyMap<string, { ids: RecordId[]; problem: CellProblem | null }>,
  ): PlannedRow {
    const given: Values = {}
    for (const { column, field } of cells) {
      const value = values[field.id] ?? (column.required ? column.fallback : null)
      if (value === null && column.required)
        return { kind: 'decided', row, state: RowState.refused, problems: [missingIn(column)] }
      if (value !== null) given[field.id] = value
    }
    const problems: CellProblem[] = []
    for (const { column, field } of links) {
      const { ids = [], problem = null } = linked.get(field.id) ?? {}
      if (column.required && ids.length === 0) {
        return problem
          ? refused(row, column, problem.reason, problem.value)
          : { kind: 'decided', row, state: RowState.refused, problems: [missingIn(column)] }
      }
      if (problem) problems.push(problem)
      if (ids.length > 0) given[field.id] = JSON.stringify(ids)
    }
    return { kind: 'write', row, id: null, values: given, before: null, problems }
  }

  /** The values that a row changes in its record. */
  function planUpdate(
    row: StagedRow,
    values: Values,
    { id, values: stored }: StoredRecord,
    {
      linked,
      now,
    }: {
      linked: ReadonlyMap<string, { ids: RecordId[]; problem: CellProblem | null }>
      now: ReadonlyMap<string, RecordId[]> | undefined
    },
  ): PlannedRow {
    const clears = update?.emptyCells === 'clear'
    const next: Values = {}
    const before: Values = {}
    const problems: CellProblem[] = []
    for (const { at, column, field } of written) {
      const value = values[field.id] ?? null
      if (value === null && (!clears || row.kept.has(at))) continue
      if (value === null && column.required)
        return { kind: 'decided', row, state: RowState.refused, problems: [missingIn(column)] }
      const given = value ?? fieldType(field.type).initial ?? null
      if (given === (stored[field.id] ?? null)) continue
      if (field.isPrimaryKey) return refused(row, column, m.records_error_key_change({ field: field.title }))
      next[field.id] = given
      before[field.id] = stored[field.id] ?? null
    }
    for (const { at, column, field } of links) {
      const { ids = [], problem = null } = linked.get(field.id) ?? {}
      if (problem) problems.push(problem)
      if (problem || row.kept.has(at) || ((row.texts[at] ?? '') === '' && !clears)) continue
      const present = now?.get(field.id) ?? []
      const isSame =
        ids.length === present.length &&
        ids.every((one) => present.some((other) => String(other) === String(one)))
      if (isSame || (ids.length === 0 && column.required)) continue
      next[field.id] = JSON.stringify(ids)
      before[field.id] = null
    }
    if (Object.keys(next).length === 0) return { kind: 'decided', row, state: RowState.unchanged, problems }
    return { kind: 'write', row, id, values: next, before, problems }
  }

  /** Finds the record of each row, and decides what the row does to it. */
  async function plan(rows: readonly StagedRow[]): Promise<PlannedRow[]> {
    const linked = await resolveLinks(rows)
    const none = new Map<string, { ids: RecordId[]; problem: CellProblem | null }>()
    const linksOf = ({ number }: StagedRow) => linked.get(number) ?? none
    if (!update) return rows.map((row) => planInsert(row, valuesOf(row), linksOf(row)))
    const values = new Map(rows.map((row) => [row.number, valuesOf(row)]))
    const found = await records.findByValues(
      model,
      keys.map(({ field }) => field),
      written.map(({ field }) => field),
      [...values.values()].map(keyOf),
    )
    const of = (row: StagedRow) => found.get(keyOf(values.get(row.number) ?? {}))
    const existing = rows.flatMap((row) => {
      const [only, ...others] = of(row)
      return only && others.length === 0 ? [only.id] : []
    })
    const now = await linkedNow(existing)
    return rows.map((row): PlannedRow => {
      const own = values.get(row.number) ?? {}
      const [record, ...others] = of(row)
      const decided = (state: RowState): PlannedRow => ({ kind: 'decided', row, state, problems: [] })
      if (others.length > 0) return decided(RowState.ambiguous)
      if (record) {
        if (update.mode === 'add') return decided(RowState.skipped)
        return planUpdate(row, own, record, { linked: linksOf(row), now: now.get(String(record.id)) })
      }
      // Numbers that the database gives cannot be chosen.
      if (keys.some(({ field }) => !isFilledByImport(field))) return decided(RowState.unknown)
      if (update.mode === 'update') return decided(RowState.skipped)
      return planInsert(row, own, linksOf(row))
    })
  }

  /** The fields by which an added row can be found again: the table's key, or the fields that find records; else null. */
  function recognizedBy(): PlannedColumn[] | null {
    const own = model.keyFields.map(({ id }) => cells.find(({ field }) => field.id === id))
    if (own.length > 0 && own.every((column) => column !== undefined)) return own as PlannedColumn[]
    return keys.length > 0 ? keys : null
  }

  /** Why a row was refused as a whole because of its key. */
  const KEY_REASONS: Partial<Record<RowState, () => string>> = {
    [RowState.withoutKey]: m.imports_report_no_key,
    [RowState.repeated]: m.imports_report_key_repeated,
    [RowState.ambiguous]: m.imports_report_key_ambiguous,
    [RowState.unknown]: m.imports_report_unknown_id,
  }

  return {
    keys,
    valueFields,
    valuesOf,
    plan,
    /** The highest number that the database gave a record; null if there is none, undefined if it does not number them. */
    async highestKey(): Promise<number | string | null | undefined> {
      const [key, ...others] = model.keyFields
      const isNumbered = key && others.length === 0 && fieldType(key.type).storage === 'id'
      return isNumbered && recognizedBy() === null ? records.highestKey(model) : undefined
    },
    /** The rows that are in the table by their key; null if they have none that is known. */
    async findByKey(rows: readonly StagedRow[]): Promise<ReadonlySet<number> | null> {
      const by = recognizedBy()
      if (by === null) return null
      const wanted = rows.map((row) => by.map(({ at, field }) => stagedValue(field, row.texts[at] ?? null)))
      if (wanted.some((values) => values.includes(null))) return null
      const fields = by.map(({ field }) => field)
      const found = await records.findByValues(model, fields, [], wanted)
      return new Set(rows.flatMap(({ number }, at) => (found.get(wanted[at] ?? []).length > 0 ? number : [])))
    },
    /** The first cells of a change, for the preview. */
    sampleOf(row: StagedRow, { before, values }: Pick<RowToWrite, 'before' | 'values'>): UpdatedRecord {
      const shown = keys.map(({ at, field }) => formatValue(field, stagedValue(field, row.texts[at] ?? null)))
      return {
        row: row.number,
        key: clip(shown.join(', ')),
        cells: columns.flatMap(({ at, field }): UpdatedRecord['cells'] => {
          if (!(field.id in values)) return []
          if (isLink.has(at)) return [{ field: field.title, before: null, after: clip(row.texts[at] ?? '') }]
          const [old, next] = [before?.[field.id] ?? null, values[field.id] ?? null]
          return [
            {
              field: field.title,
              before: clip(formatValue(field, old)),
              after: clip(formatValue(field, next)),
            },
          ]
        }),
      }
    },
    /** What the report says about a row. */
    problemsOf(row: StagedRow): readonly CellProblem[] {
      if (row.state === RowState.uncertain)
        return [{ column: '', value: '', reason: m.imports_report_uncertain() }]
      const reason = row.state === null ? undefined : KEY_REASONS[row.state]
      if (!reason) return readReason(row.reason).problems ?? []
      const column = keys.map((key) => key.column.title).join(', ')
      const value = keys.map(({ at }) => row.texts[at] ?? '').join(', ')
      return [{ column, value, reason: rowSkipped(reason()) }]
    },
  }
}

const missingIn = ({ title }: ImportColumn): CellProblem => ({
  column: title,
  value: '',
  reason: missingValue(),
})

/** A staged text as the write door takes it. */
function stagedValue(field: Field, text: string | null): CellValue {
  if (text === null) return null
  const storage = storageOf(field)
  if (storage === 'boolean') return text === 'true'
  return storage === 'integer' || storage === 'real' || storage === 'id' ? exactNumber(text) : text
}

const clip = (text: string): string =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text
