import { breathe } from '../../src/breathe.ts'
import type { Actor } from '../../src/core/actor.ts'
import { type AppError, badRequest } from '../../src/core/errors.ts'
import { type DateFormat, withOtherOrder } from '../../src/core/fields/date-text.ts'
import type { DayOrder } from '../../src/core/fields/day-reading.ts'
import { type FieldTypeName, fieldType } from '../../src/core/fields/index.ts'
import { freeTitle } from '../../src/core/free-title.ts'
import type { Analysis, AnalysisMessage, TableAnalysis } from '../../src/core/imports/analysis.ts'
import {
  countMisfits,
  type DraftColumn,
  type DraftLink,
  type DraftTarget,
  displayColumn,
  draftColumns,
  notationOf,
  readsNumbers,
  takesLinks,
  toStartInput,
  withMark,
  withType,
} from '../../src/core/imports/draft.ts'
import type { ChosenFormat } from '../../src/core/imports/format.ts'
import {
  compareDrafts,
  comparedColumns,
  type LinkableDraft,
  proposeLinks,
} from '../../src/core/imports/propose-links.ts'
import { titleOfImport } from '../../src/core/imports/title-of-import.ts'
import type { Job } from '../../src/jobs.ts'
import { m } from '../../src/messages.gen.ts'
import type { SchemaReader } from '../schema/index.ts'
import { readColumnOptions } from './column-options.ts'
import {
  type AnalysisInput,
  type ColumnChoice,
  type NewTablesInput,
  type StartInput,
  startAllInput,
  type TableChoice,
} from './input.ts'
import type { createTableMatcher } from './match-names.ts'
import { unclearEncoding } from './readers/index.ts'

/* Imports of files into new tables by programs: what the dialog of the web app decides is decided here, unless the caller does. */

/** Values of a column that an analysis shows. */
const MAX_SAMPLES = 5
/** Tables of a file that an error lists. */
const MAX_NAMED = 20
/** Time for comparing the columns of a file with existing tables. */
const MATCHING_MS = 10_000

/** A column of a table in a file, and what an import makes of it. */
export interface ProposedColumn {
  /** Position in the file. */
  index: number
  /** Title in the file. */
  name: string
  title: string
  import: boolean
  type: FieldTypeName
  options: Record<string, unknown>
  isDisplay: boolean
  /** The decimal mark of its numbers; null for other columns. */
  decimal: '.' | ',' | null
  /** The order in which its days are read; null for other columns. */
  dateOrder: DayOrder | null
  /** True where the order of day and month, the decimal mark or the currency is not certain. */
  isAmbiguous: boolean
  /** Values from the beginning of the file. */
  samples: string[]
  /** Cells of the sample that do not fit the type, and would stay empty. */
  misfits: number
  link: ProposedLink | null
}

/** The records that the values of a column name: of another table of the file, by its position, or of an existing one. */
export interface ProposedLink {
  table?: number
  tableId?: string
  title: string
  by: DraftLink['by']
  missing: DraftLink['missing']
  found: DraftLink['found']
}

/** A table in a file, and what an import makes of it. */
export interface ProposedTable {
  /** Position in the file. */
  position: number
  /** Name in the file; '' if the file is the table. */
  name: string
  title: string
  import: boolean
  isHidden: boolean
  /** The table and column with the lists that this table holds. */
  parent: { table: number; column: number } | null
  /** Number of rows, which may be estimated (`isExact` is false then); null for a table that cannot be imported. */
  rows: number | null
  isExact: boolean
  /** True if the types fit every row, not only samples. */
  isComplete: boolean
  /** Why it cannot be imported. */
  problem: string | null
  notes: string[]
  /** Encodings in which the text reads well, of which one has to be chosen; empty if it is clear. */
  encodings: string[]
  columns: ProposedColumn[]
}

interface Deps {
  schema: Pick<SchemaReader, 'tables'>
  upload(actor: Actor, uploadId: string): Promise<{ fileName: string }>
  analyse(
    actor: Actor,
    uploadId: string,
    input: AnalysisInput,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<AnalysisMessage>>
  startAll(actor: Actor, inputs: StartInput[]): Promise<{ jobId: string }[]>
  matchTables: ReturnType<typeof createTableMatcher>
  jobs: { get(actor: Actor, jobId: string): Promise<Job> }
}

/** A table of a file with its settings; its key is the position in the file. */
interface FileDraft extends LinkableDraft {
  name: string
  table: TableAnalysis
  target: Extract<DraftTarget, { kind: 'new' }>
  choice: TableChoice | undefined
}

/** Imports of files into new tables, as the dialog proposes them, with whatever the caller has chosen. */
export function createNewTables({ schema, upload, analyse, startAll, matchTables, jobs }: Deps) {
  /**
   * What an import of an upload would create.
   * @throws NOT_FOUND for the upload; BAD_REQUEST for a file that cannot be read, and for choices that do not suit it
   */
  async function propose(
    actor: Actor,
    baseId: string,
    uploadId: string,
    input: NewTablesInput,
    signal: AbortSignal,
  ): Promise<ProposedTable[]> {
    const proposed: ProposedTable[] = []
    for (const draft of await draftsOf(actor, baseId, uploadId, input, signal))
      proposed.push(await present(draft))
    return proposed
  }

  /**
   * Imports an upload into new tables.
   * @returns the created tables with their jobs, and all jobs; the last one links them, if there is anything to link
   * @throws as `propose` and `startAll`; nothing has been started then
   */
  async function start(
    actor: Actor,
    baseId: string,
    uploadId: string,
    input: NewTablesInput,
    signal: AbortSignal,
  ): Promise<{ tables: { position: number; name: string; title: string; jobId: string }[]; jobs: Job[] }> {
    const drafts = await draftsOf(actor, baseId, uploadId, input, signal)
    const chosen = drafts.filter(({ isOn }) => isOn)
    if (chosen.length === 0)
      throw badRequest(
        drafts.find(({ table }) => table.problem)?.table.problem ?? m.imports_error_no_tables(),
      )
    const titles = chosen.map(({ target }) => target.title.toLowerCase())
    const repeated = chosen.find(({ target }, at) => titles.indexOf(target.title.toLowerCase()) < at)
    if (repeated) throw badRequest(m.imports_error_table_twice({ name: repeated.target.title }))
    const inputs = chosen.map(({ analysis, columns, target, table }) => {
      if (analysis === null) throw badRequest(table.problem ?? m.imports_error_empty_file())
      const problem = unclearEncoding(analysis.encodings ?? [])
      if (problem) throw badRequest(problem)
      if (!columns.some(({ isOn }) => isOn))
        throw badRequest(m.imports_error_no_columns({ table: target.title }))
      const positionOf = (key: number) => chosen.findIndex((draft) => draft.key === key)
      const started = toStartInput({ baseId, uploadId, analysis }, columns, target, positionOf)
      return { ...started, timeZone: input.timeZone }
    })
    const parsed = startAllInput.safeParse(inputs)
    if (!parsed.success) throw badRequest(parsed.error.issues[0]?.message ?? '')
    const started = await startAll(actor, parsed.data)
    return {
      tables: chosen.map(({ key, name, target }, at) => ({
        position: key,
        name,
        title: target.title,
        jobId: started[at]?.jobId ?? '',
      })),
      jobs: await Promise.all(started.map(({ jobId }) => jobs.get(actor, jobId))),
    }
  }

  async function draftsOf(
    actor: Actor,
    baseId: string,
    uploadId: string,
    input: NewTablesInput,
    signal: AbortSignal,
  ): Promise<FileDraft[]> {
    const { fileName } = await upload(actor, uploadId)
    const request = { chosen: chosenOf(input), readAll: input.readAll }
    const tables = await tablesOf(await analyse(actor, uploadId, request, signal))
    const titles = (await schema.tables(actor, baseId)).map(({ title }) => title)
    const drafts = chooseTables(tables, { fileName, titles, input }).map(withChoices)
    const linkable = input.links ? drafts : drafts.map(withoutProposals)
    for (const _ of input.links ? compareDrafts(linkable) : []) await breathe()
    const proposed = proposeLinks(linkable, await matchesOf(actor, baseId, linkable, input))
    for (const [at, draft] of linkable.entries()) requireChosenLinks(draft, proposed[at]?.columns ?? [])
    return proposed
  }

  /** The existing tables whose records the columns of each table name. */
  async function matchesOf(
    actor: Actor,
    baseId: string,
    drafts: readonly FileDraft[],
    { links, timeZone }: NewTablesInput,
  ) {
    const until = performance.now() + MATCHING_MS
    const matches = new Map<number, Awaited<ReturnType<typeof matchTables>>>()
    for (const draft of drafts) {
      if (!links || !draft.isOn || !takesLinks(draft.target) || performance.now() > until) continue
      const columns = comparedColumns(draft).map(({ title, values }) => ({ title, values }))
      matches.set(draft.key, await matchTables(actor, { baseId, columns, timeZone }))
    }
    return (key: number) => matches.get(key) ?? []
  }

  return { propose, start }
}

/** Settings of the readers; absent ones are detected. */
function chosenOf(input: NewTablesInput): ChosenFormat {
  const { tables, links, nested, wholeSheets, readAll, sourceId, timeZone, ...chosen } = input
  return { ...chosen, ...(wholeSheets && { range: null }) }
}

/** @throws BAD_REQUEST with the reason for a file that cannot be read */
async function tablesOf(messages: AsyncGenerator<AnalysisMessage>): Promise<TableAnalysis[]> {
  for await (const message of messages) {
    if (message.type === 'failed') throw badRequest(message.message)
    if (message.type === 'done') return message.tables
  }
  throw badRequest(m.imports_error_analysis_failed())
}

interface Choosing {
  fileName: string
  /** Titles of the tables in the base. */
  titles: readonly string[]
  input: NewTablesInput
}

/** The tables of a file, with those ticked that the caller has chosen, or else those that the dialog ticks. */
function chooseTables(all: readonly TableAnalysis[], { fileName, titles, input }: Choosing): FileDraft[] {
  const shown = [...all.entries()].filter(
    ([, { analysis, problem }]) => analysis !== null || problem !== null,
  )
  if (shown.length === 0) throw badRequest(m.imports_error_empty_file())
  const choices = choicesByPosition(shown, input.tables)
  const areAllHidden = shown.every(([, { isHidden }]) => isHidden)
  const taken = [...titles]
  return shown.map(([position, table]): FileDraft => {
    const { name, isHidden, analysis, problem, parent = null } = table
    const choice = choices?.get(position)
    const proposed = freeTitle(
      titleOfImport(fileName, name, shown.length === 1) || m.imports_untitled(),
      taken,
    )
    const title = choice?.title ?? proposed
    taken.push(title)
    const isOffered = !isHidden || areAllHidden || (input.nested && parent !== null)
    const target = { kind: 'new' as const, title, ...(input.sourceId && { sourceId: input.sourceId }) }
    return {
      key: position,
      name,
      isOn: choices ? choice !== undefined && choice.import !== false : problem === null && isOffered,
      parent: parent && { key: parent.table, column: parent.column },
      target,
      analysis,
      columns: analysis ? draftColumns(analysis, target) : [],
      table,
      choice,
    }
  })
}

/**
 * What the caller has chosen, by the positions of the tables; null for no choice.
 * @throws BAD_REQUEST for a table that the file does not have, and for one that is named twice
 */
function choicesByPosition(
  shown: readonly [number, TableAnalysis][],
  given: NewTablesInput['tables'],
): Map<number, TableChoice> | null {
  if (given === undefined) return null
  const choices = new Map<number, TableChoice>()
  for (const each of given) {
    const choice = typeof each === 'string' ? { name: each } : each
    const { position, name } = choice
    const found = shown.find(([at, table]) => {
      if (position !== undefined) return at === position
      if (name !== undefined) return table.name.toLowerCase() === name.trim().toLowerCase()
      return shown.length === 1
    })
    if (!found) throw noSuchTable(name ?? String(position ?? ''), shown)
    if (choices.has(found[0])) throw badRequest(m.imports_error_table_twice({ name: name ?? found[1].name }))
    choices.set(found[0], choice)
  }
  return choices
}

function noSuchTable(name: string, shown: readonly [number, TableAnalysis][]): AppError {
  // Text files and lists of records have no names for their one table.
  if (shown.every(([, table]) => table.name === ''))
    return badRequest(m.imports_error_unnamed_table({ name }))
  const names = shown.map(([, table]) => `“${table.name}”`).slice(0, MAX_NAMED)
  return badRequest(m.imports_error_no_such_table({ name, names: names.join(', ') }))
}

/** Lists of objects that become tables of their own are no column of their records. */
function withChoices(draft: FileDraft, _: number, drafts: readonly FileDraft[]): FileDraft {
  const { analysis, choice, columns, target } = draft
  if (analysis === null) return draft
  const lists = drafts.filter(({ isOn, parent }) => isOn && parent?.key === draft.key)
  const own = columns.map((column) =>
    lists.some(({ parent }) => parent?.column === column.index) ? { ...column, isOn: false } : column,
  )
  const isDisplayChosen = choice?.columns?.some(({ isDisplay }) => isDisplay) === true
  const changed = [...own]
  for (const given of choice?.columns ?? []) {
    const at = changed.findIndex(({ index }) =>
      given.index === undefined
        ? analysis.fields[index]?.title.toLowerCase() === given.name?.trim().toLowerCase()
        : index === given.index,
    )
    const column = changed[at]
    if (!column) {
      const name = given.name ?? String(given.index ?? '')
      throw badRequest(m.imports_error_no_such_column({ table: target.title, name }))
    }
    changed[at] = withChoice(column, given, { analysis, draft, drafts, isDisplayChosen })
  }
  return { ...draft, columns: changed }
}

/** Orders of days, with a format for each that the detected one is not in. */
const ORDERS: Record<DayOrder, { begins: string; format: DateFormat }> = {
  day: { begins: 'DD', format: 'DD/MM/YYYY' },
  month: { begins: 'MM', format: 'MM/DD/YYYY' },
  year: { begins: 'YYYY', format: 'YYYY/MM/DD' },
}

/** A column as the caller wants it. What is as it was detected changes nothing, so that a proposal can be sent back. */
function withChoice(
  before: DraftColumn,
  given: ColumnChoice,
  {
    analysis,
    draft,
    drafts,
    isDisplayChosen,
  }: { analysis: Analysis; draft: FileDraft; drafts: readonly FileDraft[]; isDisplayChosen: boolean },
): DraftColumn {
  const { target } = draft
  let column: DraftColumn = {
    ...before,
    isOn: given.import ?? before.isOn,
    title: given.title ?? before.title,
    ...(isDisplayChosen && { isDisplay: given.isDisplay === true }),
    ...(given.isBuddhist !== undefined && { isBuddhist: given.isBuddhist }),
  }
  const { decimal } = given
  if (decimal && decimal !== notationOf(analysis, column, target).decimal)
    column = { ...column, ...withMark(column, decimal, analysis, target) }
  const detected = column.options
  if (given.type && given.type !== column.type) column = withType(column, given.type, analysis)
  const { options } = given
  // Those of another type that a proposal had.
  const isLeftOver = column.type !== before.type && JSON.stringify(options) === JSON.stringify(detected)
  if (options && !isLeftOver)
    column = {
      ...column,
      options: readColumnOptions(column.title, column.type, { ...column.options, ...options }),
    }
  if (given.dateOrder && given.dateOrder !== dateOrderOf(column, analysis, target))
    column = inOrder(column, given.dateOrder)
  return given.link === undefined ? column : { ...column, link: linkOfChoice(given.link, draft, drafts) }
}

/** The column with its days in another order. */
function inOrder(column: DraftColumn, order: DayOrder): DraftColumn {
  if (fieldType(column.type).filters !== 'date')
    throw badRequest(m.imports_error_no_days({ column: column.title }))
  const format = column.options.format as DateFormat
  const { begins, format: usual } = ORDERS[order]
  const known = [format, withOtherOrder(format) ?? usual, usual]
  const chosen = known.find((each) => each.startsWith(begins)) ?? usual
  return { ...column, options: { ...column.options, format: chosen }, yearFirst: order === 'year' }
}

/** The order in which the days of a column are read; null for other columns. */
function dateOrderOf(column: DraftColumn, analysis: Analysis, target: DraftTarget): DayOrder | null {
  if (column.link || fieldType(column.type).filters !== 'date') return null
  const { dateFormat = '', reading } = notationOf(analysis, column, target)
  if (reading.yearFirst || dateFormat.startsWith('Y')) return 'year'
  return dateFormat.startsWith('MM') ? 'month' : 'day'
}

/** @throws BAD_REQUEST for a link of a table of a connected database, and to a table that is not imported */
function linkOfChoice(
  given: NonNullable<ColumnChoice['link']> | null,
  { target }: FileDraft,
  drafts: readonly FileDraft[],
): DraftLink | null {
  if (given === null) return null
  if (!takesLinks(target) && given.by === 'name') throw badRequest(m.imports_error_link_connected())
  const { table, tableId, by, missing } = given
  if (tableId !== undefined) return { to: { tableId }, title: '', by: 'name', missing, found: null }
  const to = drafts.find(({ key, isOn }) => key === table && isOn)
  if (!to) throw badRequest(m.imports_error_link_target())
  return { to: { draft: to.key }, title: to.target.title, by, missing, found: null }
}

/** A table of which no column becomes a link, unless the caller has chosen one. */
const withoutProposals = (draft: FileDraft): FileDraft => ({
  ...draft,
  columns: draft.columns.map((column) => (column.link === undefined ? { ...column, link: null } : column)),
})

/** @throws BAD_REQUEST for a link that the caller has chosen, but which a table cannot have: its display field is none */
function requireChosenLinks({ columns, isOn, parent }: FileDraft, linked: readonly DraftColumn[]): void {
  const lost = columns.some(({ link, index, isOn: isImported }, at) => {
    const isOfParent = parent !== null && index === 0
    return isOn && isImported && link && !isOfParent && !linked[at]?.link
  })
  if (lost) throw badRequest(m.imports_error_link_display_field())
}

async function present({
  key,
  name,
  isOn,
  table,
  target,
  parent,
  analysis,
  columns,
}: FileDraft): Promise<ProposedTable> {
  const { isHidden, problem, notes = [] } = table
  const proposed: ProposedColumn[] = []
  if (analysis) {
    for (const column of columns) {
      await breathe()
      proposed.push(presentColumn(column, columns, analysis, target))
    }
  }
  return {
    position: key,
    name,
    title: target.title,
    import: isOn,
    isHidden,
    parent: parent && { table: parent.key, column: parent.column },
    rows: analysis?.rowCount ?? null,
    isExact: analysis?.isExact ?? true,
    isComplete: analysis?.isComplete ?? true,
    problem,
    notes,
    encodings: (analysis?.encodings ?? []).map(({ encoding }) => encoding),
    columns: proposed,
  }
}

function presentColumn(
  column: DraftColumn,
  columns: DraftColumn[],
  analysis: Analysis,
  target: DraftTarget,
): ProposedColumn {
  const { index, title, isOn, type, options, link } = column
  const detected = analysis.fields[index]
  const { ambiguous, unclearMark } = detected?.confidence ?? {}
  const values = analysis.rows.map((row) => row[index] ?? '').filter((text) => text.trim() !== '')
  return {
    index,
    name: detected?.title ?? '',
    title,
    import: isOn,
    type,
    options,
    isDisplay: column === displayColumn(columns, analysis),
    decimal: readsNumbers(column, target) ? notationOf(analysis, column, target).decimal : null,
    dateOrder: dateOrderOf(column, analysis, target),
    isAmbiguous: ambiguous === true || unclearMark === true,
    samples: [...new Set(values)].slice(0, MAX_SAMPLES),
    misfits: countMisfits(analysis, column, target),
    link: link ? presentLink(link) : null,
  }
}

const presentLink = ({ to, title, by, missing, found }: DraftLink): ProposedLink => ({
  ...('draft' in to ? { table: to.draft } : { tableId: to.tableId }),
  title,
  by,
  missing,
  found,
})
