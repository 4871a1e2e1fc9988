import { valuesOfButton } from '../../../src/core/fields/button.ts'
import type { ChoiceTitles } from '../../../src/core/fields/choice-titles.ts'
import { type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import { renamedText } from '../../../src/core/views/index.ts'
import {
  choicesOf,
  choiceTitles,
  definitionOf,
  type FieldDefinition,
  restoreKeys,
  type SchemaRows,
  toField,
} from '../model/index.ts'
import type { TableState } from '../tables/index.ts'
import { type DefinitionLog, existedAt, type KnownEntry, knownEntries } from './definition-log.ts'
import { type Step, stateAt, stepOf } from './state-at.ts'

type TableRow = SchemaRows['tables'][number]
type FieldRow = SchemaRows['fields'][number]

/** Something that is not as it was at the moment. */
export interface NotRewound {
  kind: 'table' | 'field' | 'view' | 'records' | 'webhook' | 'comments'
  /** `Table`, `Table.Field`, `Table.View`; of records and comments, that of their table. */
  title: string
  /** `purged`: deleted forever since. `changed`: its former state is not kept. `connected`: in a connected database, and changed since. */
  reason: 'purged' | 'changed' | 'connected'
  /** Of records and comments. */
  count?: number
}

/** Values that the log has of a field whose column was another one, or whose key was its column. */
export interface ForeignValues {
  tableId: string
  fieldId: string
  columnName: string
  /** Entries in which the values of the field are those of another column; `until` null: all later ones. */
  hidden: { since: number; until: number | null }[]
}

/** Titles of options that a change renamed, for what refers to them by title. */
export interface RenamedChoices {
  id: number
  tableId: string
  fieldId: string
  /** From the titles before the change to those after it, and back. */
  forward: ChoiceTitles
  backward: ChoiceTitles
}

/** Unique indexes that a table needs, and that it has and must not have, by column. */
export interface UniqueColumn {
  tableName: string
  columnName: string
  fieldId: string
}

export interface RewoundSchema {
  /** The tables and fields of the moment, without its trash. */
  tables: TableRow[]
  fields: FieldRow[]
  /** Other fields, whose titles errors of computed fields may name. */
  otherFields: FieldRow[]
  foreignValues: ForeignValues[]
  renamed: RenamedChoices[]
  uniqueAdded: UniqueColumn[]
  uniqueDropped: UniqueColumn[]
  left: NotRewound[]
}

/**
 * The tables and fields of a base as they were at a moment. Those of connected databases stay as they are.
 *
 * @param rows those of the base, with its trash
 */
export function rewindSchema(rows: SchemaRows, ownSourceId: string, log: DefinitionLog): RewoundSchema {
  const { after, at } = log
  const entries = knownEntries(log)
  const own = rows.tables.filter(({ sourceId }) => sourceId === ownSourceId)
  const connected = rows.tables.filter(({ sourceId }) => sourceId !== ownSourceId)
  const tableRows = new Map(own.map((table) => [table.id, table]))
  const fieldRows = new Map(
    rows.fields.filter(({ tableId }) => tableRows.has(tableId)).map((field) => [field.id, field]),
  )
  const of = (prefix: string) => entries.filter(({ action }) => action.kind.startsWith(prefix))
  const ofTables = Map.groupBy(of('table.'), (entry) => idIn(entry, 'tableId'))
  const ofFields = Map.groupBy(of('field.'), (entry) => idIn(entry, 'fieldId'))

  const existed = (found: readonly KnownEntry[]) => existedAt(found, after)
  const wasThere = (
    { createdAt, deletedAt }: Pick<TableRow, 'createdAt' | 'deletedAt'>,
    found: readonly KnownEntry[],
  ) => createdAt <= at && (deletedAt === null || deletedAt > at) && (existed(found) ?? true)

  const tables = own
    .filter((table) => wasThere(table, ofTables.get(table.id) ?? []))
    .map((table): TableRow => {
      const state = stateAt(tableSteps(ofTables.get(table.id) ?? []), after, stateOfTable(table))
      return { ...table, ...state, deletedAt: null, deletedBy: null }
    })
  const liveTables = new Set(tables.map(({ id }) => id))

  const renamed = of('field.update').flatMap(renamedBy)
  const partners = counterparts(fieldRows.values())
  const definedAs = new Map<string, FieldRow>()
  const stepsOf = new Map<string, Step<FieldDefinition>[]>()
  for (const field of fieldRows.values()) {
    const steps = [
      ...fieldSteps(ofFields.get(field.id) ?? []),
      ...(partners.get(field.id) ?? []).flatMap((id) => requiredSteps(ofFields.get(id) ?? [])),
      ...renamed.filter(({ tableId }) => tableId === field.tableId).map(buttonStep),
    ].toSorted((a, b) => a.id - b.id)
    stepsOf.set(field.id, steps)
    definedAs.set(field.id, {
      ...field,
      ...stateAt(steps, after, definitionOf(toField(field))),
      wireMeta: stateAt(metaSteps(ofFields.get(field.id) ?? []), after, field.wireMeta),
    })
  }

  const links = linksAt({ definedAs, fieldRows, tableRows, liveTables, ofFields, wasThere })
  const { liveParts, allParts } = links
  const isLivePart = ({ id }: { id: string }) => !allParts.has(id) || liveParts.has(id)
  const live = tables.filter(isLivePart)
  const titles = new Map(live.map(({ id, title }) => [id, title]))
  const titleOf = ({ tableId, title }: FieldRow) => `${titles.get(tableId) ?? ''}.${title}`

  const isLiveField = (field: FieldRow): boolean => {
    if (!titles.has(field.tableId)) return false
    const isPart = linkOf(field) !== null || (allParts.has(field.id) && isForeignKey(field))
    return isPart ? liveParts.has(field.id) : wasThere(field, ofFields.get(field.id) ?? [])
  }
  const displayed = displayFields([...fieldRows.values()], of('field.display'), after)
  const fields = [...definedAs.values()].filter(isLiveField).map((field) => ({
    ...field,
    isDisplay: displayed.get(field.tableId) === field.id,
    deletedAt: null,
    deletedBy: null,
  }))
  const tableNames = new Map(own.map(({ id, tableName }) => [id, tableName]))
  const uniqueOf = ({ id, tableId, columnName }: FieldRow): UniqueColumn => ({
    tableName: tableNames.get(tableId) ?? '',
    columnName,
    fieldId: id,
  })
  const hasSameIndex = (a: FieldRow | undefined, b: FieldRow) =>
    a?.unique === b.unique && a.columnName === b.columnName
  const moved = fields.filter((field) => !hasSameIndex(fieldRows.get(field.id), field))
  return {
    tables: numbered([...live, ...connected]),
    fields: [...fields, ...rows.fields.filter(({ tableId }) => !tableRows.has(tableId))],
    otherFields: [...definedAs.values()].filter((field) => !isLiveField(field)),
    foreignValues: fields.flatMap((field) =>
      foreignValues(field, stepsOf.get(field.id) ?? [], ofFields.get(field.id) ?? [], after),
    ),
    renamed,
    uniqueAdded: moved.filter(({ unique }) => unique).map(uniqueOf),
    uniqueDropped: moved.flatMap(({ id }) => {
      const now = fieldRows.get(id)
      return now?.unique ? [uniqueOf(now)] : []
    }),
    left: [
      ...purgedTables(ofTables, tableRows, existed),
      ...purgedFields(ofFields, fieldRows, titles, existed),
      ...links.lost.map((field) => ({
        kind: 'field' as const,
        title: titleOf(field),
        reason: 'purged' as const,
      })),
      ...undoneChoices(of('field.update'), after).flatMap((id): NotRewound[] => {
        const field = fields.find((each) => each.id === id)
        return field ? [{ kind: 'field', title: titleOf(field), reason: 'changed' }] : []
      }),
      ...lostUndos(log, titles),
    ],
  }
}

/** Rows with numbers of their own in the same order: equal ones are ordered by ids, and copies get others. */
export const numbered = <R extends { id: string; order: number }>(rows: readonly R[]): R[] =>
  rows
    .toSorted((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1))
    .map((row, index) => ({ ...row, order: index + 1 }))

interface LinksAt {
  /** The fields with their definitions of the moment, and with those of now. */
  definedAs: ReadonlyMap<string, FieldRow>
  fieldRows: ReadonlyMap<string, FieldRow>
  tableRows: ReadonlyMap<string, TableRow>
  liveTables: ReadonlySet<string>
  ofFields: ReadonlyMap<string, readonly KnownEntry[]>
  wasThere(row: FieldRow, found: readonly KnownEntry[]): boolean
}

/**
 * The ids of the links of a moment with their parts, which come and go together. `allParts` also has those of other links;
 * `lost` are fields whose parts were deleted forever.
 */
function linksAt({ definedAs, fieldRows, tableRows, liveTables, ofFields, wasThere }: LinksAt) {
  const found = (fields: ReadonlyMap<string, FieldRow>) =>
    [...fields.values()].flatMap((field) => {
      const link = linkOf(field)
      return link ? [{ field, link }] : []
    })
  const former = found(definedAs).filter(({ field, link }) => {
    if (!liveTables.has(field.tableId) || !liveTables.has(link.relatedTableId)) return false
    const sides = [field.id, link.inverseFieldId].flatMap((id) => definedAs.get(id ?? '') ?? [])
    // A change names one side of a link.
    const ids = [field.id, link.inverseFieldId, link.keyFieldId].filter((id) => id !== null)
    const events = ids.flatMap((id) => ofFields.get(id) ?? []).toSorted((a, b) => a.id - b.id)
    return sides.every((side) => wasThere(side, events))
  })
  const isWhole = ({ inverseFieldId, keyFieldId, junction }: LinkOptions) =>
    [inverseFieldId, keyFieldId].every((id) => id === null || definedAs.has(id)) &&
    (junction === null || tableRows.has(junction.tableId))
  const live = former.filter(({ link }) => {
    const inverse = definedAs.get(link.inverseFieldId ?? '')
    const isLinked = inverse === undefined || linkOf(inverse) !== null
    return isWhole(link) && isLinked && (link.junction === null || liveTables.has(link.junction.tableId))
  })
  const partsOfAll = (links: typeof live) =>
    new Set(links.flatMap(({ field, link }) => [field.id, ...partsOf(link)]))
  return {
    liveParts: partsOfAll(live),
    // Links that were converted since have other parts.
    allParts: partsOfAll([...found(fieldRows), ...found(definedAs)]),
    lost: former.flatMap(({ field, link }) => (isWhole(link) || field.isSystem ? [] : [field])),
  }
}

/** The ids of what comes and goes with a link, beside its two sides. */
const partsOf = ({ keyFieldId, junction }: LinkOptions): (string | null)[] => [
  keyFieldId,
  junction?.tableId ?? null,
  junction?.ownFieldId ?? null,
  junction?.relatedFieldId ?? null,
]

/** The id of what an entry concerns. */
function idIn({ action }: KnownEntry, key: 'tableId' | 'fieldId'): string {
  const detail = (action.detail ?? {}) as Record<string, unknown>
  const id = detail[key] ?? (key === 'tableId' ? action.tableId : null)
  return typeof id === 'string' ? id : ''
}

const stateOfTable = ({ title, description, meta, order }: TableRow): TableState => ({
  title,
  description,
  meta,
  order,
})

/** Restoring something may give it another title; what it had when it was deleted is in the log. */
const deletionStep = <S extends { title: string }>(id: number, title: unknown): Step<S> => ({
  id,
  forward: (state) => state,
  backward: (state) => (typeof title === 'string' ? { ...state, title } : state),
})

function tableSteps(entries: readonly KnownEntry[]): Step<TableState>[] {
  return entries.flatMap(({ id, direction, action }) => {
    const detail = action.detail as { before: TableState; after: TableState; tableTitle?: string }
    if (action.kind === 'table.update') return [stepOf(id, direction, detail, restoreKeys)]
    const isDeletion = action.kind === 'table.delete' && direction === 'do'
    return isDeletion ? [deletionStep<TableState>(id, detail.tableTitle)] : []
  })
}

interface FieldChange {
  before: FieldDefinition
  after: FieldDefinition
  title?: string
}

function fieldSteps(entries: readonly KnownEntry[]): Step<FieldDefinition>[] {
  return entries.flatMap(({ id, direction, action }) => {
    const detail = action.detail as FieldChange
    if (action.kind === 'field.update') return [stepOf(id, direction, detail, restoreDefinition)]
    const isDeletion = action.kind === 'field.delete' && direction === 'do'
    return isDeletion ? [deletionStep<FieldDefinition>(id, detail.title)] : []
  })
}

/** Changes of the `meta` of REST clients, which undo leaves as it is. */
function metaSteps(entries: readonly KnownEntry[]): Step<FieldRow['wireMeta']>[] {
  return entries.flatMap(({ id, direction, action }) => {
    const { wireMeta } = (action.detail ?? {}) as {
      wireMeta?: { before: FieldRow['wireMeta']; after: FieldRow['wireMeta'] }
    }
    return wireMeta && direction === 'do' ? [stepOf(id, direction, wireMeta, (_, __, to) => to)] : []
  })
}

function restoreDefinition(
  current: FieldDefinition,
  from: FieldDefinition,
  to: FieldDefinition,
): FieldDefinition {
  const restored = restoreKeys(current, from, to)
  if (current.type !== from.type || from.type !== to.type) return restored
  return { ...restored, options: restoreKeys(current.options, from.options, to.options) }
}

/** The fields whose `required` follows that of another one, both ways: links that hold a key, and their keys. */
function counterparts(fields: Iterable<FieldRow>): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (id: string, other: string) => found.set(id, [...(found.get(id) ?? []), other])
  for (const field of fields) {
    const link = linkOf(field)
    if (!link?.holdsKey || link.keyFieldId === null) continue
    add(field.id, link.keyFieldId)
    add(link.keyFieldId, field.id)
  }
  return found
}

/** What changes of a field did to its counterpart. */
function requiredSteps(entries: readonly KnownEntry[]): Step<FieldDefinition>[] {
  return entries.flatMap(({ id, direction, action }) => {
    if (action.kind !== 'field.update') return []
    const { before, after } = action.detail as FieldChange
    if (before.required === after.required) return []
    const [from, to] = direction === 'undo' ? [after, before] : [before, after]
    return [
      {
        id,
        forward: (state: FieldDefinition) => ({ ...state, required: to.required }),
        backward: (state: FieldDefinition) => ({ ...state, required: from.required }),
      },
    ]
  })
}

function renamedBy({ id, direction, action }: KnownEntry): RenamedChoices[] {
  const { fieldId, before, after } = action.detail as FieldChange & { fieldId: string }
  const [from, to] = direction === 'undo' ? [after, before] : [before, after]
  const [forward, backward] = [choiceTitles(from, to), choiceTitles(to, from)]
  if (!forward || !backward || action.tableId === null) return []
  return [{ id, tableId: action.tableId, fieldId, forward, backward }]
}

/** What renamed options did to the values that a button writes. */
function buttonStep({ id, fieldId, forward, backward }: RenamedChoices): Step<FieldDefinition> {
  const rename = (state: FieldDefinition, titles: ChoiceTitles): FieldDefinition => {
    const values = valuesOfButton(state)
    const before = values[fieldId] ?? null
    const renamed = renamedText(before, titles)
    if (renamed === before) return state
    return { ...state, options: { ...state.options, values: { ...values, [fieldId]: renamed } } }
  }
  return {
    id,
    forward: (state) => rename(state, forward),
    backward: (state) => rename(state, backward),
  }
}

/** The display field of each table, by table id. */
function displayFields(
  fields: readonly FieldRow[],
  entries: readonly KnownEntry[],
  after: number,
): Map<string, string> {
  const now = fields.flatMap(({ id, tableId, isDisplay, deletedAt }) =>
    isDisplay && deletedAt === null ? [[tableId, id] as const] : [],
  )
  const displayed = new Map(now)
  for (const [tableId, changes] of Map.groupBy(entries, ({ action }) => action.tableId ?? '')) {
    const steps = changes.map(({ id, direction, action }) =>
      stepOf(id, direction, action.detail as { before: string; after: string }, (_, __, to) => to),
    )
    displayed.set(tableId, stateAt(steps, after, displayed.get(tableId) ?? ''))
  }
  return displayed
}

/** Where the log since the moment has other values under the id of a field, or its values under the name of its column. */
function foreignValues(
  field: FieldRow,
  steps: readonly Step<FieldDefinition>[],
  entries: readonly KnownEntry[],
  after: number,
): ForeignValues[] {
  const { id: fieldId, tableId, columnName } = field
  if (columnName === '' || isForeignKey(field)) return []
  const hidden: ForeignValues['hidden'] = []
  let state: FieldDefinition = definitionOf(toField(field))
  for (const step of steps) {
    if (step.id <= after) continue
    const last = hidden.at(-1)
    const wasHidden = last !== undefined && last.until === null
    state = step.known?.after ?? step.forward(state)
    const isHidden = state.columnName !== columnName
    if (isHidden && !wasHidden) hidden.push({ since: step.id, until: null })
    if (!isHidden && wasHidden) last.until = step.id
  }
  const isDeleted = entries.some(({ id, action }) => id > after && !action.kind.startsWith('field.update'))
  return hidden.length > 0 || isDeleted ? [{ tableId, fieldId, columnName, hidden }] : []
}

function purgedTables(
  ofTables: ReadonlyMap<string, readonly KnownEntry[]>,
  known: ReadonlyMap<string, TableRow>,
  existed: (entries: readonly KnownEntry[]) => boolean | null,
): NotRewound[] {
  return [...ofTables].flatMap(([id, entries]): NotRewound[] => {
    if (known.has(id) || !existed(entries)) return []
    return [{ kind: 'table', title: titleIn(entries, 'tableTitle') ?? id, reason: 'purged' }]
  })
}

function purgedFields(
  ofFields: ReadonlyMap<string, readonly KnownEntry[]>,
  known: ReadonlyMap<string, FieldRow>,
  tables: ReadonlyMap<string, string>,
  existed: (entries: readonly KnownEntry[]) => boolean | null,
): NotRewound[] {
  return [...ofFields].flatMap(([id, entries]): NotRewound[] => {
    const table = tables.get(entries[0]?.action.tableId ?? '')
    if (id === '' || known.has(id) || table === undefined || !existed(entries)) return []
    return [{ kind: 'field', title: `${table}.${titleIn(entries, 'title') ?? id}`, reason: 'purged' }]
  })
}

/** The title in the latest entry that has it. */
function titleIn(entries: readonly KnownEntry[], key: 'title' | 'tableTitle'): string | null {
  const titles = entries.map(({ action }) => (action.detail as Record<string, unknown> | null)?.[key])
  const last = titles.findLast((title) => typeof title === 'string')
  return typeof last === 'string' ? last : null
}

/** The ids of fields of which options were changed before a moment, and changed back since: the log does not list these cells. */
function undoneChoices(entries: readonly KnownEntry[], moment: number): string[] {
  const undone = entries.flatMap(({ id, direction, action }) => {
    const { fieldId, before, after } = action.detail as FieldChange & { fieldId: string }
    const isOfOlder = direction !== 'do' && id > moment && action.id <= moment
    const isOfChoices =
      before.columnName === after.columnName && !Bun.deepEquals(choicesOf(before), choicesOf(after))
    return isOfOlder && isOfChoices && action.records > 0 ? [fieldId] : []
  })
  return [...new Set(undone)]
}

/** Tables in which something was undone since that the log does not have any more. */
function lostUndos({ after, entries }: DefinitionLog, tables: ReadonlyMap<string, string>): NotRewound[] {
  const ids = entries.flatMap(({ id, action, tableId }) => (action === null && id > after ? [tableId] : []))
  return [...new Set(ids)].flatMap((id): NotRewound[] => {
    const title = tables.get(id ?? '')
    return title === undefined ? [] : [{ kind: 'table', title, reason: 'changed' }]
  })
}
