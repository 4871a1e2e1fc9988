import type { Values } from '../../../src/core/changes.ts'
import type { UpdatedRecord } from '../../../src/core/csv/import-result.ts'
import { AppError } from '../../../src/core/errors.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { readLinks, readNameList } from '../../../src/core/fields/list-value.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { isFilledByImport } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { ColumnValue } from '../../../src/db/column-values.ts'
import {
  type FoundNames,
  type NamedTable,
  type ReadValues,
  type RecordNames,
  readNames,
  recordsNamed,
} from '../../../src/db/names-of-records.ts'
import { createSpillMap } from '../../../src/db/spill-map.ts'
import { exactNumber } from '../../../src/dialects/exact-number.ts'
import { m } from '../../../src/messages.gen.ts'
import type { StoredRecord } from '../../records/index.ts'
import { isPreview } from '../job-input.ts'
import type { CreatedRecords, ImportColumn } from '../plan.ts'
import { recordsOfRows } from '../row-records.ts'
import { missingValue, rowSkipped } from '../worker/convert.ts'
import { unknownRecords } from '../worker/resolve-names.ts'
import {
  type ConnectedDeps,
  type ConnectedImport,
  isFaultOfRows,
  MAX_REFUSED,
  toNamedRecords,
  tooManyRefused,
} from './connected-import.ts'
import { type CellProblem, openStagedRows, RowState, readReason, type StagedRow } from './staged-rows.ts'

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
  /** True if links of the row are written once all rows are. */
  isLater: boolean
}

export type PlannedRow =
  | RowToWrite
  | {
      kind: 'decided'
      row: StagedRow
      state: RowState
      problems: CellProblem[]
      later?: { id: RecordId | null }
      /** Of a waiting row: names that it needs, and that no record has yet. */
      awaited?: readonly string[]
    }

/** The links of a written row that had to wait for other rows. */
export interface LaterLinks {
  row: StagedRow
  id: RecordId | null
  /** Empty if they are there already, or name nothing. */
  values: Values
  problems: CellProblem[]
}

/** What a cell of a link column names. */
interface NamedLinks {
  ids: RecordId[]
  problem: CellProblem | null
  /** Names whose records are to be created. */
  missing: string[]
  /** Names without a record that other rows of the file may still add. */
  awaited: string[]
}

type LinksOfRow = ReadonlyMap<string, NamedLinks>

/** How names without a record are read. */
interface Resolution {
  /** False once all rows are written. In a preview that still may, rows count as written once they are marked so. */
  mayWait: boolean
  /** True before the records are created that columns may create. */
  mayCreate: boolean
}

/** Stands for the id of a record that is not there yet. */
const NOT_YET = '\0'

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
  relatedTableId: string
  displayFieldId: string
  /** True for a link of the table to itself. */
  isSelf: boolean
  read: ReadValues
  engine: ConnectedImport['engine']
  /** The records of rows of another import, which the cells have instead of names. */
  rows: FoundNames | null
}

/** A row that waits for others, and the row that would add the first record that it needs. */
interface Awaiting {
  column: ImportColumn
  name: string
  /** Null if no row of the file has that name. */
  holder: StagedRow | null
}

/** Rows outside of their chunk that are followed, one after the other, to find out whether rows wait in a circle. */
const MAX_FOLLOWED = 50

const MAX_TEXT = 200

export type RowPlanner = Awaited<ReturnType<typeof createRowPlanner>>

/** Decides what each staged row does to a table of a connected database, with a constant number of reads per chunk. */
export async function createRowPlanner(
  { records, schema }: Pick<ConnectedDeps, 'records' | 'schema'>,
  { input, update, model, jobId, home, staging, rowsPath }: Omit<ConnectedImport, 'report'>,
) {
  const isPreviewed = isPreview(input)
  /** Numbers of created records, by the id of their table; in a preview, those that would be. */
  const created = new Map<string, { table: string; count: number }>()
  /** Names that a preview has counted, and why the database refused others, by table and name. */
  const [counted, refusals] = [createSpillMap<null>(), createSpillMap<string>()]
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
  /** True if the file has the keys of new records. */
  const hasOwnKeys =
    model.keyFields.length > 0 &&
    model.keyFields.every((key) => cells.some(({ field }) => field.id === key.id))
  const display = columns.find(({ field }) => field.id === model.displayField.id)
  const stagedRows = openStagedRows(
    home,
    staging,
    input.columns.map(({ column }) => column),
  )

  async function openLinks(): Promise<LinkColumn[]> {
    const people = await records.people(input.actor, input.baseId)
    const opened: LinkColumn[] = []
    for (const column of columns) {
      const link = linkOf(column.field)
      if (!link) continue
      const open = await records.openLink(model, column.field.id)
      const engine = await schema.engineOf(open.related.table)
      const related = toNamedRecords(open, people, input.timeZone)
      const read: ReadValues = (statement) => engine.all<ColumnValue>(statement, { scan: true })
      const { rowsOf } = column.column
      opened.push({
        ...column,
        link,
        engine,
        related,
        rows: rowsOf ? await recordsOfRows(engine, related, rowsPath(rowsOf), read) : null,
        relatedTableId: open.related.table.id,
        displayFieldId: open.related.displayField.id,
        isSelf: open.related.table.id === model.table.id,
        read,
      })
    }
    return opened
  }

  /** The values of a row's cells by field, links left out. */
  function valuesOf({ texts }: StagedRow): Values {
    return Object.fromEntries(cells.map(({ at, field }) => [field.id, stagedValue(field, texts[at] ?? null)]))
  }

  const keyOf = (values: Values): CellValue[] => keys.map(({ field }) => values[field.id] ?? null)

  /** The ids that the cells of link columns name, and what is wrong with them, by row and field. */
  async function resolveLinks(
    rows: readonly StagedRow[],
    resolution: Resolution,
    columns: readonly LinkColumn[] = links,
  ): Promise<ReadonlyMap<number, LinksOfRow>> {
    const resolved = new Map<number, Map<string, NamedLinks>>(rows.map(({ number }) => [number, new Map()]))
    for (const column of columns) {
      const texts = rows.flatMap(({ texts }) => texts[column.at] ?? [])
      const names = await findNames(
        column,
        texts.flatMap((text) => [text, ...readNameList(text)]),
        resolution,
      )
      for (const row of rows)
        resolved.get(row.number)?.set(column.field.id, readCell(column, row, names, resolution))
    }
    return resolved
  }

  /** Finds records by name; in a preview also those that rows of the file would add. */
  async function findNames(
    { column, related, engine, read, rows, isSelf }: LinkColumn,
    names: readonly string[],
    { mayWait }: Resolution,
  ): Promise<Pick<RecordNames, 'find'>> {
    if (rows) return rows
    const known = await recordsNamed(engine, related, names, read)
    if (!isPreviewed || !isSelf || !display || (mayWait && !column.required)) return known
    const missing = names.filter((name) => known.find(name) === undefined)
    const added = await stagedRows.textsIn(display.column.column, missing, { areWritten: mayWait })
    return { find: (name) => known.find(name) ?? (added.has(name) ? NOT_YET : undefined) }
  }

  function readCell(
    { at, column, field, link, related, relatedTableId, isSelf }: LinkColumn,
    row: StagedRow,
    names: Pick<RecordNames, 'find'>,
    { mayWait, mayCreate }: Resolution,
  ): NamedLinks {
    const text = row.texts[at] ?? ''
    const { ids, missing, isTooMany } = readNames(text, link, names)
    const refused = (reason: string): NamedLinks => ({
      ids,
      problem: { column: column.title, value: text, reason },
      missing: [],
      awaited: [],
    })
    if (isTooMany) return refused(m.imports_report_several_records({ field: field.title }))
    if (missing.length === 0) return { ids, problem: null, missing, awaited: [] }
    if (mayWait && isSelf) return { ids: [], problem: null, missing: [], awaited: missing }
    const { table, displayField } = related
    if (column.rowsOf) return refused(m.imports_report_parent_missing({ table: table.title }))
    const refusal = missing.flatMap((name) => refusals.get(`${relatedTableId} ${name}`) ?? [])[0]
    if (refusal !== undefined)
      return refused(m.imports_report_not_created({ table: table.title, reason: refusal }))
    const isCreatable = (name: string) =>
      fieldType(displayField.type).parse(name, displayField.options) !== null
    if (!column.creates || !mayCreate || !missing.every(isCreatable))
      return refused(unknownRecords(table.title, missing))
    return { ids: [...ids, ...missing.map(() => NOT_YET)], problem: null, missing, awaited: [] }
  }

  /** Creates the records that the rows to be written name. @returns true if there were any */
  async function createNamed(
    rows: readonly StagedRow[],
    linked: ReadonlyMap<number, LinksOfRow>,
  ): Promise<boolean> {
    /** By linked table, to which several columns may lead. */
    const missing = new Map<string, { column: LinkColumn; names: Set<string> }>()
    for (const column of links) {
      const { names } = missing.get(column.relatedTableId) ?? { names: new Set() }
      for (const { number } of rows)
        for (const name of linked.get(number)?.get(column.field.id)?.missing ?? []) names.add(name)
      if (names.size > 0) missing.set(column.relatedTableId, { column, names })
    }
    for (const { column, names } of missing.values()) await createRecords(column, [...names])
    return missing.size > 0
  }

  /** Creates records with these names, those left out that the database refuses. */
  async function createRecords(column: LinkColumn, names: readonly string[]): Promise<void> {
    const { related, relatedTableId, displayFieldId } = column
    const { displayField, table } = related
    const count = (n: number) => {
      const known = created.get(relatedTableId)?.count ?? 0
      created.set(relatedTableId, { table: table.title, count: known + n })
    }
    const keyOf = (name: string) => `${relatedTableId} ${name}`
    if (isPreviewed) {
      const fresh = names.filter((name) => counted.get(keyOf(name)) === undefined)
      for (const name of fresh) counted.set(keyOf(name), null)
      return count(fresh.length)
    }
    const { parse } = fieldType(displayField.type)
    const rows = names.map((name) => ({
      values: { [displayFieldId]: parse(name, displayField.options) },
    }))
    const operations = [{ kind: 'insert' as const, tableId: relatedTableId, rows }]
    const { baseId, timeZone, actor } = input
    try {
      await records.apply({ ...actor, actionId: jobId }, { baseId, operations, timeZone })
      count(names.length)
    } catch (error) {
      if (!(error instanceof AppError) || !isFaultOfRows(error)) throw error
      const [only] = names
      if (only !== undefined && names.length === 1) {
        refusals.set(keyOf(only), error.message)
        if (refusals.size < MAX_REFUSED) return
        throw tooManyRefused(error)
      }
      const middle = Math.ceil(names.length / 2)
      await createRecords(column, names.slice(0, middle))
      await createRecords(column, names.slice(middle))
    }
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

  /** A new record, with the defaults of required fields. One that needs a record which is not there waits for it. */
  function planInsert(row: StagedRow, values: Values, linked: LinksOfRow): PlannedRow {
    const given: Values = {}
    for (const { column, field } of cells) {
      const value = values[field.id] ?? (column.required ? column.fallback : null)
      if (value === null && column.required)
        return { kind: 'decided', row, state: RowState.refused, problems: [missingIn(column)] }
      if (value !== null) given[field.id] = value
    }
    const problems: CellProblem[] = []
    const awaited: string[] = []
    for (const { column, field } of links) {
      const cell = linked.get(field.id)
      const { ids = [], problem = null } = cell ?? {}
      if (column.required && cell && cell.awaited.length > 0) {
        awaited.push(...cell.awaited)
        continue
      }
      if (column.required && ids.length === 0) {
        return problem
          ? refused(row, column, problem.reason, problem.value)
          : { kind: 'decided', row, state: RowState.refused, problems: [missingIn(column)] }
      }
      if (problem) problems.push(problem)
      if (ids.length > 0) given[field.id] = JSON.stringify(ids)
    }
    if (awaited.length > 0) return { kind: 'decided', row, state: RowState.waiting, problems: [], awaited }
    return {
      kind: 'write',
      row,
      id: null,
      values: given,
      before: null,
      problems,
      isLater: waits(linked),
    }
  }

  const waits = (linked: LinksOfRow): boolean =>
    [...linked.values()].some(({ awaited }) => awaited.length > 0)

  /** The new values of a link field; null if its links stay as they are. */
  function changedLinks(
    { at, column, field }: PlannedColumn,
    row: StagedRow,
    { ids, problem, awaited }: NamedLinks,
    now: ReadonlyMap<string, RecordId[]> | undefined,
  ): CellValue {
    const isEmptyCell = (row.texts[at] ?? '') === ''
    if (problem || awaited.length > 0 || row.kept.has(at) || (isEmptyCell && update?.emptyCells !== 'clear'))
      return null
    const present = now?.get(field.id) ?? []
    const isSame =
      ids.length === present.length &&
      ids.every((one) => present.some((other) => String(other) === String(one)))
    return isSame || (ids.length === 0 && column.required) ? null : JSON.stringify(ids)
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
      linked: LinksOfRow
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
    for (const column of links) {
      const cell = linked.get(column.field.id)
      if (!cell) continue
      if (cell.problem) problems.push(cell.problem)
      const changed = changedLinks(column, row, cell, now)
      if (changed === null) continue
      next[column.field.id] = changed
      before[column.field.id] = null
    }
    const isLater = waits(linked)
    if (Object.keys(next).length > 0)
      return { kind: 'write', row, id, values: next, before, problems, isLater }
    const later = isLater ? { id } : undefined
    return { kind: 'decided', row, state: RowState.unchanged, problems, later }
  }

  /** Finds the record of each row, and decides what the row does to it. Creates the linked records that it names. */
  async function plan(rows: readonly StagedRow[]): Promise<PlannedRow[]> {
    const decide = await findRecords(rows)
    const linked = await resolveLinks(rows, { mayWait: true, mayCreate: true })
    const planned = decide(linked)
    const written = planned.flatMap(({ kind, row }) => (kind === 'write' ? [row] : []))
    const hasCreated = await createNamed(written, linked)
    if (!hasCreated || isPreviewed) return planned
    return decide(await resolveLinks(rows, { mayWait: true, mayCreate: false }))
  }

  /** The links of written rows that waited for other rows. */
  async function planLater(rows: readonly StagedRow[]): Promise<LaterLinks[]> {
    const own = links.filter(({ isSelf }) => isSelf)
    const idOf = ({ reason }: StagedRow) => readReason(reason).later?.id ?? null
    const ids = rows.flatMap((row) => idOf(row) ?? [])
    const now = await linkedNow(ids)
    let linked = await resolveLinks(rows, { mayWait: false, mayCreate: true }, own)
    if ((await createNamed(rows, linked)) && !isPreviewed)
      linked = await resolveLinks(rows, { mayWait: false, mayCreate: false }, own)
    return rows.map((row) => {
      const id = idOf(row)
      const values: Values = {}
      const problems: CellProblem[] = []
      for (const column of own) {
        const cell = linked.get(row.number)?.get(column.field.id)
        if (!cell) continue
        if (cell.problem) problems.push(cell.problem)
        const changed = changedLinks(column, row, cell, now.get(String(id)))
        if (changed !== null) values[column.field.id] = changed
      }
      if (id === null && !isPreviewed && Object.keys(values).length > 0)
        return { row, id, values: {}, problems: [...problems, LINKS_LEFT()] }
      return { row, id, values, problems }
    })
  }

  /** The first record that each of some rows needs and that is not there, by row. Rows that need none are left out. */
  async function awaitedBy(
    rows: readonly StagedRow[],
  ): Promise<Map<number, Pick<Awaiting, 'column' | 'name'>>> {
    const own = links.filter(({ isSelf, column }) => isSelf && column.required)
    const linked = await resolveLinks(rows, { mayWait: true, mayCreate: false }, own)
    return new Map(
      rows.flatMap(({ number }) => {
        const found = own.flatMap(({ column, field }) => {
          const [name] = linked.get(number)?.get(field.id)?.awaited ?? []
          return name === undefined ? [] : [{ column, name: name.trim() }]
        })
        return found[0] ? [[number, found[0]] as const] : []
      }),
    )
  }

  /** Which rows these wait for, and those in turn, by the number of the waiting row. */
  async function followAwaited(rows: readonly StagedRow[]): Promise<ReadonlyMap<number, Awaiting>> {
    const followed = new Map<number, Awaiting>()
    const holders = new Map<string, StagedRow | null>()
    let next = rows
    for (let step = 0; next.length > 0 && step < MAX_FOLLOWED; step++) {
      const awaited = await awaitedBy(next)
      const names = new Set([...awaited.values()].map(({ name }) => name))
      const unknown = [...names].filter((name) => !holders.has(name))
      const found = display ? await stagedRows.unwrittenWith(display.column.column, unknown) : []
      for (const name of unknown) holders.set(name, null)
      for (const row of found) holders.set((row.texts[display?.at ?? 0] ?? '').trim(), row)
      for (const [number, needed] of awaited)
        followed.set(number, { ...needed, holder: holders.get(needed.name) ?? null })
      next = found.filter(({ number }) => !followed.has(number))
    }
    return followed
  }

  /** Decides rows that wait for records which no row adds: they are refused. */
  async function refuseWaiting(rows: readonly StagedRow[]): Promise<PlannedRow[]> {
    const awaiting = await followAwaited(rows)
    return rows.map((row) => {
      const needed = awaiting.get(row.number)
      return needed
        ? refused(row, needed.column, reasonToWait(row, needed, awaiting), needed.name)
        : { kind: 'decided', row, state: RowState.waiting, problems: [] }
    })
  }

  /** Why the record that a row needs is not there. */
  function reasonToWait(
    row: StagedRow,
    { column, name, holder }: Awaiting,
    awaiting: ReadonlyMap<number, Awaiting>,
  ): string {
    if (!holder) return unknownRecords(model.table.title, [name])
    if (holder.number === row.number) return m.imports_report_needs_itself({ field: column.title })
    const needed = { field: column.title, name, row: holder.number }
    const passed = new Set<number>()
    let at: StagedRow | null = holder
    while (at && at.number !== row.number && !passed.has(at.number)) {
      passed.add(at.number)
      at = awaiting.get(at.number)?.holder ?? null
    }
    return at?.number === row.number
      ? m.imports_report_needs_circle(needed)
      : m.imports_report_needs_refused(needed)
  }

  /** Finds the records of rows. @returns decides what the rows do, given their links */
  async function findRecords(
    rows: readonly StagedRow[],
  ): Promise<(linked: ReadonlyMap<number, LinksOfRow>) => PlannedRow[]> {
    const none: LinksOfRow = new Map()
    if (!update)
      return (linked) => rows.map((row) => planInsert(row, valuesOf(row), linked.get(row.number) ?? none))
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
    return (linked) =>
      rows.map((row): PlannedRow => {
        const own = values.get(row.number) ?? {}
        const linksOfRow = linked.get(row.number) ?? none
        const [record, ...others] = of(row)
        const decided = (state: RowState): PlannedRow => ({ kind: 'decided', row, state, problems: [] })
        if (others.length > 0) return decided(RowState.ambiguous)
        if (record) {
          if (update.mode === 'add') return decided(RowState.skipped)
          return planUpdate(row, own, record, { linked: linksOfRow, now: now.get(String(record.id)) })
        }
        // Numbers that the database gives cannot be chosen.
        if (keys.some(({ field }) => !isFilledByImport(field))) return decided(RowState.unknown)
        if (update.mode === 'update') return decided(RowState.skipped)
        return planInsert(row, own, linksOfRow)
      })
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
    hasOwnKeys,
    valuesOf,
    plan,
    planLater,
    refuseWaiting,
    /** Those of a chunk's waiting rows that name one of the written rows, as far as the file shows their names. */
    rowsAwaiting(planned: readonly PlannedRow[], written: readonly RowToWrite[]): StagedRow[] {
      const names = new Set(written.map(({ row }) => (row.texts[display?.at ?? -1] ?? '').trim()))
      return planned.flatMap((one) =>
        one.kind === 'decided' && one.awaited?.some((name) => names.has(name.trim())) ? [one.row] : [],
      )
    },
    /** Records that were created by name, or would be. */
    created: () =>
      [...created].map(([tableId, each]): CreatedRecords => ({ tableId, ...each, changeId: null })),
    close() {
      counted.close()
      refusals.close()
      for (const { rows } of links) rows?.close()
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
      const { problems = [], later } = readReason(row.reason)
      if (!reason) return later ? [...problems, LINKS_LEFT()] : problems
      const column = keys.map((key) => key.column.title).join(', ')
      const value = keys.map(({ at }) => row.texts[at] ?? '').join(', ')
      return [{ column, value, reason: rowSkipped(reason()) }]
    },
  }
}

/** Why links that waited for other rows are not written: the import has ended before. */
const LINKS_LEFT = (): CellProblem => ({ column: '', value: '', reason: m.imports_report_links_left() })

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
