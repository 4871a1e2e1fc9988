import { fieldType } from '../fields/index.ts'
import type { Field } from '../model.ts'
import { singularOf } from '../nouns.ts'
import type { Analysis } from './analysis.ts'
import { type DraftColumn, type DraftLink, type DraftTarget, displayColumn, takesLinks } from './draft.ts'
import { isCalledAfter, isLikelyLink, namesOf as namesIn } from './likely-link.ts'
import { fieldForList, linkToParent } from './nested-lists.ts'

/** A table to be imported, of which columns may become links. */
export interface LinkableDraft {
  key: number
  /** False for a table that is offered, but not imported. */
  isOn: boolean
  /** The table and column with the lists that this table holds. */
  parent: { key: number; column: number } | null
  target: DraftTarget
  /** Null until the file has been analysed, or if that failed. */
  analysis: Analysis | null
  columns: DraftColumn[]
}

/** An existing table that columns of a file can link to. */
export interface MatchedTable {
  tableId: string
  title: string
  /** Columns whose values name records of the table, by their position in the call. */
  columns: { column: number; count: number; found: number; isLikely: boolean }[]
}

/** Limits of columns and values that are compared with existing tables. */
export const MAX_MATCHED = 40
export const MAX_MATCHED_VALUES = 20
const MAX_LENGTH = 1000
/** Distinct values of a column that are compared with the other tables of an import. */
const MAX_COMPARED = 500
/** Share of the values of a display field that differ, where they name records. */
const DISTINCT = 0.9

/** The columns whose values may name records of existing tables, with some of their values. */
export function comparedColumns({
  columns,
  analysis,
}: LinkableDraft): { index: number; title: string; values: string[] }[] {
  if (!analysis) return []
  return columns
    .filter((column) => isComparable(column, analysis))
    .slice(0, MAX_MATCHED)
    .map(({ index, title }) => ({ index, title, values: valuesOf(analysis, index, MAX_MATCHED_VALUES) }))
}

/** Compares the tables for `proposeLinks`, which would take long for many of them: a column in each step. */
export function* compareDrafts(drafts: readonly LinkableDraft[]): Generator<void> {
  const names = indexOf(namedDrafts(drafts))
  for (const { analysis, columns } of drafts) {
    for (const column of columns) {
      if (analysis && column.isOn && isComparable(column, analysis))
        countsFound(analysis, column.index, names)
      yield
    }
  }
}

/**
 * The tables with links for the columns for which nothing is chosen: to each other, and to existing tables, by their values.
 * @param matchesOf the existing tables that the compared columns of a table name, by its key
 */
export function proposeLinks<Draft extends LinkableDraft>(
  drafts: readonly Draft[],
  matchesOf: (key: number) => readonly MatchedTable[],
): Draft[] {
  const named = namedDrafts(drafts)
  const names = indexOf(named)
  const proposed = drafts.map((draft) => {
    const compared = comparedColumns(draft)
    const toExisting = ({ index }: DraftColumn) =>
      likelyMatch(
        compared.findIndex((column) => column.index === index),
        matchesOf(draft.key),
      )
    return withProposals(
      draft,
      drafts,
      (column) => toImported(draft, column, named, names) ?? toExisting(column),
    )
  })
  return proposed.map((draft) => withNamedRecords(draft, proposed))
}

function isComparable({ index }: DraftColumn, { fields }: Analysis): boolean {
  const { filters } = fieldType(fields[index]?.type ?? 'SingleLineText')
  return ['text', 'select', 'multiSelect', 'number'].includes(filters)
}

/** The likely link to an existing table. */
function likelyMatch(column: number, tables: readonly MatchedTable[]): DraftLink | null {
  for (const { tableId, title, columns } of tables) {
    const match = columns.find((each) => each.column === column && each.isLikely)
    if (!match) continue
    const found = { count: match.found, of: match.count }
    return { to: { tableId }, title, by: 'name', missing: 'report', found }
  }
  return null
}

/** A draft with links for the columns for which nothing is chosen. */
function withProposals<Draft extends LinkableDraft>(
  draft: Draft,
  drafts: readonly LinkableDraft[],
  likely: (column: DraftColumn) => DraftLink | null,
): Draft {
  const { analysis, target } = draft
  if (!analysis || !takesLinks(target)) {
    const columns = draft.columns.map((column) => withoutName(draft, column, drafts))
    return { ...draft, columns }
  }
  const own = displayColumn(
    draft.columns.map((column) => ({ ...column, link: null })),
    analysis,
  )
  const namesOwn = own && distinctShare(analysis, own.index) >= DISTINCT
  const columns = draft.columns.map((column): DraftColumn => {
    if (draft.parent && column.index === 0) return withParent(draft, analysis, column, drafts)
    const { link } = column
    const isGone = link && 'draft' in link.to && !isTarget(drafts, link.to.draft)
    if (link !== undefined) return { ...column, link: isGone || column.isDisplay ? null : link }
    if (!column.isOn || column.isDisplay || !isComparable(column, analysis)) return { ...column, link: null }
    const proposed = likely(column)
    // What names the rows of its own table is a link only if it is called so.
    const isName = namesOwn && column.index === own.index
    const isLink = proposed && (!isName || isCalledAfter(column.title, proposed.title))
    return { ...column, link: isLink ? proposed : null }
  })
  return {
    ...draft,
    columns: columns.every(({ link, isOn }) => link || !isOn) ? unlinked(columns, own) : columns,
  }
}

/** The first column of a list for a new table, as a link to the records that have the list. It is left out if there can be none. */
function withParent(
  draft: LinkableDraft,
  analysis: Analysis,
  column: DraftColumn,
  drafts: readonly LinkableDraft[],
): DraftColumn {
  const link = parentLink(draft, column, drafts)?.link ?? null
  const title = link && titleOfParent(draft.columns, analysis, link)
  return { ...column, title: title ?? column.title, link, isOn: column.isOn && link !== null }
}

/** A column of a table that takes no links by names: it may have the rows of the records that a list belongs to, or lists. */
function withoutName(
  draft: LinkableDraft,
  column: DraftColumn,
  drafts: readonly LinkableDraft[],
): DraftColumn {
  if (draft.parent && column.index === 0 && draft.target.kind === 'new' && draft.analysis)
    return withParent(draft, draft.analysis, column, drafts)
  if (draft.parent && column.index === 0) {
    const found = column.link === null ? null : parentLink(draft, column, drafts)
    // A field that a person has chosen for the numbers of the rows stays.
    if (found?.field) return { ...column, fieldId: found.field.id, link: found.link, isOn: true }
  }
  const isList = drafts.some(
    ({ isOn, parent }) => isOn && parent?.key === draft.key && parent.column === column.index,
  )
  const isOn = column.isOn && !(isList && fieldForList(draft.target, column))
  return { ...column, link: null, isOn }
}

/**
 * The link of the first column of a list, which has the rows of the records that it belongs to, and the existing field that it
 * fills. Null if the records cannot be linked.
 */
function parentLink(
  { parent: place, target }: LinkableDraft,
  column: DraftColumn,
  drafts: readonly LinkableDraft[],
): { link: DraftLink; field: Field | null } | null {
  const parent = drafts.find(({ key }) => key === place?.key)
  if (!parent?.isOn || !parent.analysis) return null
  const list = parent.columns.find(({ index }) => index === place?.column)
  const field = linkToParent(target, column, { target: parent.target, list })
  if (field === undefined) return null
  const title = parent.target.title
  return { field, link: { to: { draft: parent.key }, title, by: 'row', missing: 'report', found: null } }
}

const isTarget = (drafts: readonly LinkableDraft[], key: number): boolean =>
  drafts.some(
    (draft) => draft.key === key && draft.isOn && draft.analysis !== null && takesLinks(draft.target),
  )

/** The title of the column with the parent: that of one of its records, unless it has been changed or is taken. */
function titleOfParent(
  columns: readonly DraftColumn[],
  { fields }: Analysis,
  { title }: DraftLink,
): string | null {
  const singular = singularOf(title)
  const isTaken = columns.some((column) => column.title.toLowerCase() === singular.toLowerCase())
  return isTaken || columns[0]?.title !== fields[0]?.title ? null : singular
}

/** A table needs a column that is no link, which names its records. */
const unlinked = (columns: DraftColumn[], display: DraftColumn | undefined): DraftColumn[] =>
  columns.map((column) => (column.index === display?.index ? { ...column, link: null } : column))

/** A column that other tables link by names its records, and so is no link itself. */
function withNamedRecords<Draft extends LinkableDraft>(
  draft: Draft,
  drafts: readonly LinkableDraft[],
): Draft {
  const { analysis, columns } = draft
  const isLinked = drafts.some((other) =>
    other.columns.some(
      ({ link }) => link?.by === 'name' && 'draft' in link.to && link.to.draft === draft.key,
    ),
  )
  if (!analysis || !isLinked) return draft
  const plain = displayColumn(
    columns.map((column) => ({ ...column, link: null })),
    analysis,
  )
  return { ...draft, columns: unlinked(columns, plain) }
}

/** A new table of the import, and the column whose values name its records. */
interface NamedDraft {
  draft: LinkableDraft
  analysis: Analysis
  title: string
  display: number
}

/** The new tables whose records have names that differ. */
function namedDrafts(drafts: readonly LinkableDraft[]): NamedDraft[] {
  return drafts.flatMap((draft): NamedDraft[] => {
    const { analysis, target, isOn, columns, parent } = draft
    if (!analysis || !isOn || !takesLinks(target) || parent) return []
    const display = displayColumn(
      columns.map((column) => ({ ...column, link: null })),
      analysis,
    )
    if (!display || distinctShare(analysis, display.index) < DISTINCT) return []
    return [{ draft, analysis, title: target.title, display: display.index }]
  })
}

/** The likely link to a table of the same import. */
function toImported(
  { key, analysis }: LinkableDraft,
  column: DraftColumn,
  named: readonly NamedDraft[],
  names: NameIndex,
): DraftLink | null {
  if (!analysis) return null
  const counts = countsFound(analysis, column.index, names)
  const values = valuesOf(analysis, column.index, MAX_COMPARED)
  const isNumeric = values.every((value) => /^[\d.,\s]*$/.test(value))
  const likely = named.flatMap((other, at): DraftLink[] => {
    const count = counts[at] ?? 0
    if (count === 0 || (other.draft.key === key && other.display === column.index)) return []
    const isLikely = isLikelyLink({
      column: column.title,
      table: other.title,
      count: values.length,
      found: count,
      isComplete: other.analysis.isExact && other.analysis.rows.length >= other.analysis.rowCount,
      isNumeric,
    })
    if (!isLikely) return []
    const found = { count, of: values.length }
    return [{ to: { draft: other.draft.key }, title: other.title, by: 'name', missing: 'create', found }]
  })
  return likely.toSorted((x, y) => (y.found?.count ?? 0) - (x.found?.count ?? 0))[0] ?? null
}

/** Positions of the named tables by the names of their records: comparing each column with each table would take minutes for a workbook with a hundred sheets. */
interface NameIndex {
  /** Tells indexes apart. */
  key: string
  tables: ReadonlyMap<string, readonly number[]>
}

function indexOf(named: readonly NamedDraft[]): NameIndex {
  const key = named.map(({ analysis, display }) => `${serialOf(analysis)} ${display}`).join()
  const build = (): NameIndex['tables'] => {
    const tables = new Map<string, number[]>()
    for (const [at, { analysis, display }] of named.entries()) {
      for (const name of namesOf(analysis, display)) {
        const known = tables.get(name)
        if (known) known.push(at)
        else tables.set(name, [at])
      }
    }
    return tables
  }
  const [first] = named
  return { key, tables: first ? latest(first.analysis, 'index', key, build) : new Map() }
}

/** What separates names, or is around them. */
const MAY_LIST = /[,"\n]/

/** The numbers of values of a column that name records of each table. */
const countsFound = (analysis: Analysis, index: number, { key, tables }: NameIndex): readonly number[] =>
  latest(analysis, `found ${index}`, key, () => {
    const counts: number[] = []
    const tablesOf = (name: string) => tables.get(name) ?? []
    for (const value of valuesOf(analysis, index, MAX_COMPARED)) {
      const whole = tablesOf(value)
      const [first, ...others] = MAY_LIST.test(value) ? namesIn(value) : []
      const listed =
        first === undefined
          ? []
          : tablesOf(first).filter((at) => others.every((name) => tablesOf(name).includes(at)))
      for (const at of listed.length > 0 ? new Set([...whole, ...listed]) : whole)
        counts[at] = (counts[at] ?? 0) + 1
    }
    return counts
  })

/** What is known of an analysis, which stays the same while a dialog is open. */
const known = new WeakMap<Analysis, Map<string, unknown>>()

const serialOf = (analysis: Analysis): number => remembered(analysis, 'serial', () => ++lastSerial)
let lastSerial = 0

function factsOf(analysis: Analysis): Map<string, unknown> {
  const facts = known.get(analysis) ?? new Map<string, unknown>()
  known.set(analysis, facts)
  return facts
}

function remembered<T>(analysis: Analysis, key: string, find: () => T): T {
  const facts = factsOf(analysis)
  if (!facts.has(key)) facts.set(key, find())
  return facts.get(key) as T
}

/** As `remembered`, for the last key only. */
function latest<T>(analysis: Analysis, name: string, key: string, find: () => T): T {
  const facts = factsOf(analysis)
  const last = facts.get(name) as { key: string; value: T } | undefined
  if (last?.key === key) return last.value
  const value = find()
  facts.set(name, { key, value })
  return value
}

/** The values of a column. */
const namesOf = (analysis: Analysis, index: number): ReadonlySet<string> =>
  remembered(analysis, `names ${index}`, () => new Set(analysis.rows.map((row) => (row[index] ?? '').trim())))

/** Distinct values of a column. */
const valuesOf = (analysis: Analysis, index: number, max: number): string[] =>
  remembered(analysis, `values ${index} ${max}`, () =>
    [...namesOf(analysis, index)]
      .filter(
        (value) =>
          value !== '' && value.length <= MAX_LENGTH && !value.includes('\0') && value.isWellFormed(),
      )
      .slice(0, max),
  )

/** Share of the values of a column that differ. */
const distinctShare = (analysis: Analysis, index: number): number =>
  remembered(analysis, `distinct ${index}`, () => {
    const filled = analysis.rows.filter((row) => (row[index] ?? '').trim() !== '').length
    return filled === 0 ? 0 : namesOf(analysis, index).size / filled
  })
