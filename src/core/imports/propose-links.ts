import { fieldType } from '../fields/index.ts'
import { singularOf } from '../nouns.ts'
import type { Analysis } from './analysis.ts'
import { type DraftColumn, type DraftLink, type DraftTarget, displayColumn, takesLinks } from './draft.ts'
import { countNamed, isCalledAfter, isLikelyLink } from './likely-link.ts'

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

/**
 * The tables with links for the columns for which nothing is chosen: to each other, and to existing tables, by their values.
 * @param matchesOf the existing tables that the compared columns of a table name, by its key
 */
export function proposeLinks<Draft extends LinkableDraft>(
  drafts: readonly Draft[],
  matchesOf: (key: number) => readonly MatchedTable[],
): Draft[] {
  const named = namedDrafts(drafts)
  const proposed = drafts.map((draft) => {
    const compared = comparedColumns(draft)
    const toExisting = ({ index }: DraftColumn) =>
      likelyMatch(
        compared.findIndex((column) => column.index === index),
        matchesOf(draft.key),
      )
    return withProposals(draft, drafts, (column) => toImported(draft, column, named) ?? toExisting(column))
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
  if (!analysis || !takesLinks(target))
    return { ...draft, columns: draft.columns.map((column) => ({ ...column, link: null })) }
  const parent = drafts.find(({ key }) => key === draft.parent?.key)
  const own = displayColumn(
    draft.columns.map((column) => ({ ...column, link: null })),
    analysis,
  )
  const namesOwn = own && distinctShare(analysis, own.index) >= DISTINCT
  const columns = draft.columns.map((column): DraftColumn => {
    // The first column of a list has the rows of the records that it belongs to.
    if (draft.parent && column.index === 0) {
      const link =
        parent?.isOn && takesLinks(parent.target) ? toParent(parent.key, parent.target.title) : null
      const title = link && titleOfParent(draft.columns, analysis, link)
      return { ...column, title: title ?? column.title, link, isOn: column.isOn && link !== null }
    }
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

const isTarget = (drafts: readonly LinkableDraft[], key: number): boolean =>
  drafts.some(
    (draft) => draft.key === key && draft.isOn && draft.analysis !== null && takesLinks(draft.target),
  )

const toParent = (key: number, title: string): DraftLink => ({
  to: { draft: key },
  title,
  by: 'row',
  missing: 'report',
  found: null,
})

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
): DraftLink | null {
  if (!analysis) return null
  const values = valuesOf(analysis, column.index, MAX_COMPARED)
  const isNumeric = values.every((value) => /^[\d.,\s]*$/.test(value))
  const likely = named.flatMap((other): DraftLink[] => {
    if (other.draft.key === key && other.display === column.index) return []
    const count = countFound(analysis, column.index, other)
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

/** The number of values of a column that name records of another table. */
function countFound(analysis: Analysis, index: number, other: NamedDraft): number {
  return remembered(analysis, `found ${index} ${serialOf(other.analysis)} ${other.display}`, () => {
    const names = namesOf(other.analysis, other.display)
    return countNamed(valuesOf(analysis, index, MAX_COMPARED), (text) => names.has(text))
  })
}

/** What is known of an analysis, which stays the same while a dialog is open. */
const known = new WeakMap<Analysis, Map<string, unknown>>()

const serialOf = (analysis: Analysis): number => remembered(analysis, 'serial', () => ++lastSerial)
let lastSerial = 0

function remembered<T>(analysis: Analysis, key: string, find: () => T): T {
  const facts = known.get(analysis) ?? new Map<string, unknown>()
  known.set(analysis, facts)
  if (!facts.has(key)) facts.set(key, find())
  return facts.get(key) as T
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
