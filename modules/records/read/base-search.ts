import { withinTime } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { cellText } from '../../../src/core/fields/cell-text.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { isKeyless } from '../table/index.ts'
import { divideByIndex, searchable } from './expression/conditions.ts'
import { matchedFieldsQuery, type Opened } from './plan.ts'
import type { Reader } from './read.ts'

/** Limit of the matches of one table. */
export const MAX_PER_TABLE = 25
const PER_TABLE = 5
/** After this many matches no further table is searched. */
const MAX_MATCHES = 100
/** Tables searched at the same time. */
const CONCURRENT_TABLES = 3
/** Time for one table, and for the whole search. */
const TABLE_MS = 2_000
const TOTAL_MS = 6_000
/** Time for records whose name matches, once enough others are found: a frequent text of another field may be in no name. */
const NAMES_MS = 500
/** Time for reading what the found records of one table show, which begins after that for finding them. */
const DESCRIBE_MS = 2_000

/** Errors of a connected database, which do not end the search of other tables. */
const DOWN_CODES: ReadonlySet<string> = new Set(['DATABASE_UNREACHABLE', 'DATABASE_ERROR'])

interface BaseSearch {
  baseId: string
  text: string
  /** The table on screen: its matches come before those of other tables. */
  tableId?: string
  /** 1 to `MAX_PER_TABLE`; 5 by default. */
  perTable?: number
  /** For the snippets of fields that follow the local clock; UTC by default. */
  timeZone?: string
}

/** A record that shows the searched text. */
interface BaseMatch {
  tableId: string
  recordId: RecordId
  /** The display value. */
  name: string
  /** The first field that shows the text; the display field is the first of all. */
  fieldId: string
  /** True if that is the display field. */
  isOfName: boolean
  snippet: Snippet
}

interface BaseMatches {
  /** Records with a matching name first, then others; both in the order of the tables. */
  matches: BaseMatch[]
  /** Ids of the tables that were not searched completely, in their order. */
  unfinished: string[]
}

/**
 * Searches the tables of a base for records that show a text in any field, with the condition that a table’s own
 * search uses. Tables without a primary key are left out, as their records cannot be opened.
 */
export function createBaseSearch(
  reader: Pick<Reader, 'open' | 'page'>,
  schema: Pick<SchemaReader, 'tables'>,
) {
  /** @throws BASE_NOT_FOUND, PERMISSION_DENIED; QUERY_CANCELLED if the caller has disconnected */
  return async function searchBase(actor: Actor, search: BaseSearch): Promise<BaseMatches> {
    const tables = await schema.tables(actor, search.baseId)
    const inOrder = tables
      .map(({ id }) => id)
      .toSorted((a, b) => Number(b === search.tableId) - Number(a === search.tableId))
    const waiting = [...inOrder]
    const found = new Map<string, TableMatches>()
    const endsAt = performance.now() + TOTAL_MS
    let total = 0

    async function searchWaiting(): Promise<void> {
      for (let tableId = waiting.shift(); tableId !== undefined; tableId = waiting.shift()) {
        const leftMs = endsAt - performance.now()
        if (total >= MAX_MATCHES || leftMs <= 0) return
        const ofTable = await searchTable(actor, tableId, search, Math.min(TABLE_MS, leftMs))
        found.set(tableId, ofTable)
        total += ofTable.matches.length
      }
    }
    try {
      await Promise.all(Array.from({ length: CONCURRENT_TABLES }, searchWaiting))
    } finally {
      // If a table fails, the others end after the one they are reading.
      waiting.length = 0
    }

    const matches = inOrder.flatMap((tableId) => found.get(tableId)?.matches ?? [])
    return {
      matches: matches.toSorted((a, b) => Number(b.isOfName) - Number(a.isOfName)),
      unfinished: inOrder.filter((tableId) => !found.get(tableId)?.isComplete),
    }
  }

  async function searchTable(
    actor: Actor,
    tableId: string,
    search: BaseSearch,
    limitMs: number,
  ): Promise<TableMatches> {
    const timeUp = AbortSignal.timeout(limitMs)
    try {
      const opened = await reader.open(actor, tableId)
      if (isKeyless(opened.model)) return { matches: [], isComplete: true }
      const { displayField } = opened.model
      const others = searchable(opened.context).filter(({ id }) => id !== displayField.id)
      const limit = search.perTable ?? PER_TABLE
      const { indexed, scanned } = divideByIndex(opened.context, search.text, [displayField, ...others])
      const read = async (fields: Field[], until: AbortSignal) =>
        fields.length === 0 ? [] : withinTime(until, () => idsWith(opened, search.text, fields, limit))
      // The index answers at once. The fields that it cannot hold, such as a computed name, may take longer than there is time.
      const byIndex = await read(indexed, timeUp)
      const isFull = byIndex?.length === limit
      // A page that is not full has all matches of the index, also those of an indexed name.
      const names = [...(isFull ? indexed : []), ...scanned].filter((field) => field === displayField)
      const until = isFull ? AbortSignal.any([timeUp, AbortSignal.timeout(NAMES_MS)]) : timeUp
      const byName = byIndex && (await read(names, until))
      const found = new Set([...(byName ?? []), ...(byIndex ?? [])])
      const rest = scanned.filter((field) => field !== displayField)
      const byOthers = byName && (found.size < limit ? await read(rest, timeUp) : [])
      const ids = [...found.union(new Set(byOthers))].slice(0, limit)
      if (ids.length === 0) return { matches: [], isComplete: byOthers !== null }
      const matches = await withinTime(AbortSignal.timeout(DESCRIBE_MS), () =>
        describe(opened, search, ids, [displayField, ...others]),
      )
      return { matches: matches ?? [], isComplete: matches !== null && byOthers !== null }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      // Deleted since the list of tables was read.
      if (error.code === 'TABLE_NOT_FOUND') return { matches: [], isComplete: true }
      if (DOWN_CODES.has(error.code)) return { matches: [], isComplete: false }
      throw error
    }
  }

  async function idsWith(opened: Opened, text: string, fields: Field[], limit: number): Promise<RecordId[]> {
    const search = { text, fieldId: null, fieldIds: fields.map(({ id }) => id) }
    const query = { tableId: opened.model.table.id, search, limit, offset: 0 }
    return (await reader.page(opened, query, [])).ids
  }

  /** The matches of these records in their order, without those that have been changed or deleted meanwhile. */
  async function describe(
    opened: Opened,
    { text, timeZone = 'UTC' }: BaseSearch,
    recordIds: RecordId[],
    fields: Field[],
  ): Promise<BaseMatch[]> {
    const { engine, model, context } = opened
    const statement = engine.dialect.render(matchedFieldsQuery(context, text, fields, recordIds))
    const fieldOf = new Map<string, Field>()
    // Formulas of these records may take long.
    for (const [recordId, at] of await engine.values(statement, { scan: true })) {
      const field = at === null ? undefined : fields[Number(at)]
      if (field) fieldOf.set(String(recordId), field)
    }
    const shown = [...new Set([model.displayField, ...fieldOf.values()])]
    const query = { tableId: model.table.id, recordIds, limit: recordIds.length, offset: 0 }
    const { ids, rows } = await reader.page(opened, query, shown)
    const rowOf = new Map(ids.map((id, at) => [String(id), rows[at] ?? []]))
    const locale = { people: context.moment.people ?? [], timeZone }
    return recordIds.flatMap((recordId) => {
      const row = rowOf.get(String(recordId))
      const field = fieldOf.get(String(recordId))
      if (!row || !field) return []
      const value = row[shown.indexOf(field)] ?? null
      return {
        tableId: model.table.id,
        recordId,
        name: cellText(model.displayField, row[0] ?? null, locale),
        fieldId: field.id,
        isOfName: field.id === model.displayField.id,
        snippet: snippetOf(searchedText(field, value, locale), text),
      }
    })
  }
}

interface TableMatches {
  matches: BaseMatch[]
  isComplete: boolean
}

/** A value as the search sees it: files by their names only. */
function searchedText(field: Field, value: CellValue, locale: Parameters<typeof cellText>[2]): string {
  const { type, isList } = shownType(field)
  if (!type.holdsFiles || isList) return cellText(field, value, locale)
  return readAttachments(value)
    .map(({ title }) => title)
    .join(', ')
}

/** The part of a text around a match, on one line. */
export interface Snippet {
  text: string
  /** The match as offsets of `text`; equal if it is not literally in the text, such as in a formatted date. */
  start: number
  end: number
}

/** Characters before the match, and in total. */
const LEAD = 30
const LENGTH = 140

/** Cuts a text around the first match of `searched`, ignoring case. */
function snippetOf(text: string, searched: string): Snippet {
  const characters = [...onOneLine(text)]
  const match = locate(characters, onOneLine(searched))
  // A match near the beginning is shown with all that precedes it.
  const from = match.start <= LEAD ? 0 : match.start - LEAD
  const to = Math.min(characters.length, Math.max(from + LENGTH, match.end))
  const before = `${from > 0 ? '…' : ''}${characters.slice(from, match.start).join('')}`
  const matched = characters.slice(match.start, match.end).join('')
  const after = `${characters.slice(match.end, to).join('')}${to < characters.length ? '…' : ''}`
  return {
    text: `${before}${matched}${after}`,
    start: before.length,
    end: before.length + matched.length,
  }
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The match as a range of characters, empty at 0 if there is none. A character’s lower case may be several. */
function locate(characters: readonly string[], searched: string): { start: number; end: number } {
  const lower = characters.map((character) => character.toLowerCase())
  const wanted = searched.toLowerCase()
  const at = wanted === '' ? -1 : lower.join('').indexOf(wanted)
  if (at < 0) return { start: 0, end: 0 }
  let offset = 0
  let start = 0
  while (offset + (lower[start]?.length ?? 0) <= at) offset += lower[start++]?.length ?? 0
  let end = start
  while (offset < at + wanted.length) offset += lower[end++]?.length ?? 0
  return { start, end }
}
