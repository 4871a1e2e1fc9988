import {
  type Action,
  type ActionScope,
  CONFIRM_RECORDS,
  type ConfirmReason,
} from '../../../src/core/actions.ts'
import type { Actor } from '../../../src/core/actor.ts'
import type { Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import { cellText, type TextOptions } from '../../../src/core/fields/cell-text.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isPasswordHash, PASSWORD_MASK } from '../../../src/core/fields/password.ts'
import { showsPeople } from '../../../src/core/fields/traits.ts'
import type { Field, Person, RecordId, Table } from '../../../src/core/model.ts'
import type { StoredEntry } from '../../../src/db/change-log/entry.ts'
import { type SampledRecord, sampleRecords, valuesWhenDeleted } from '../../../src/db/change-log/records.ts'
import { viewDeletionDetails } from '../../../src/db/change-log/view-deletions.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { BasesService } from '../../bases/index.ts'
import type { LogNames, SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { Reader } from '../read/index.ts'
import { rangeOf, storedId } from '../table/index.ts'
import { isOptionsChange, type LabelledValue, labelOf } from './labels.ts'

interface Deps {
  reader: Pick<Reader, 'open' | 'page'>
  schema: Pick<SchemaReader, 'logNames'>
  views: Pick<ViewsService, 'titlesOf'>
  bases: Pick<BasesService, 'sourcesOf'>
}

/** Where actions are described: the table and view on screen, and the zone of whoever reads it; by default UTC. */
export interface Audience extends ActionScope {
  timeZone?: string
}

export type Describe = ReturnType<typeof createDescribe>

/** Length limit of a value or name in a label. */
const MAX_TEXT = 60
/** Records per entry that are read to name its fields. */
const SAMPLED_RECORDS = 2

/** Describes log entries in concrete terms. */
export function createDescribe({ reader, schema, views, bases }: Deps) {
  /**
   * Describes entries, in their order, in a number of statements that does not grow with them.
   *
   * @param audience actions elsewhere than on its screen need a confirmation
   */
  async function describe(
    actor: Actor,
    baseId: string,
    engine: Engine,
    entries: readonly StoredEntry[],
    audience: Audience,
  ): Promise<Action[]> {
    if (entries.length === 0) return []
    const tableIds = entries.flatMap(({ tableId }) => tableId ?? [])
    const names = await schema.logNames(baseId, tableIds)
    const titles = await viewTitles(engine, entries)
    const lines = await sampleRecords(engine, entries, SAMPLED_RECORDS)
    const people = await peopleFor(actor, names, entries)
    const texts: TextOptions = { people, timeZone: audience.timeZone ?? 'UTC' }
    const records = await recordNames(actor, engine, names, entries, lines, texts)
    const sources = new Map(
      ((await bases.sourcesOf([baseId])).get(baseId) ?? []).map(({ id, alias }) => [id, alias]),
    )
    const named: Named = { names, titles, lines, texts, records, sources }
    return entries.map((entry) => actionOf(entry, named, audience))
  }

  /** The titles of views by id, including deleted ones, whose entries keep the title. */
  async function viewTitles(
    engine: Engine,
    entries: readonly StoredEntry[],
  ): Promise<ReadonlyMap<string, string>> {
    const ofView = entries.filter(({ kind }) => kind.startsWith('view.') || kind === 'records.move')
    const ids = ofView.flatMap(({ detail }) => (detail as { viewId?: string } | null)?.viewId ?? [])
    const titles = new Map(await views.titlesOf(ids))
    for (const { detail } of ofView) keepTitle(titles, detail)
    const missing = ids.filter((id) => !titles.has(id))
    if (missing.length === 0) return titles
    const tables = [...new Set(ofView.flatMap(({ tableId }) => tableId ?? []))]
    for (const detail of await viewDeletionDetails(engine, tables)) keepTitle(titles, detail)
    return titles
  }

  /** The people of the base, if a field of the tables shows people. */
  async function peopleFor(
    actor: Actor,
    { tables, fields }: LogNames,
    entries: readonly StoredEntry[],
  ): Promise<readonly Person[]> {
    const live = entries.find(({ tableId, kind }) => {
      if (tableId === null || !kind.startsWith('records.')) return false
      return tables.get(tableId)?.deletedAt === null
    })
    const hasPeople = [...fields.values()].some(showsPeople)
    if (!live?.tableId || !hasPeople) return []
    const opened = await opening(() => reader.open(actor, live.tableId ?? ''))
    return opened?.context.moment.people ?? []
  }

  /** Names of the records that single entries changed: current names, or those at deletion. */
  async function recordNames(
    actor: Actor,
    engine: Engine,
    { tables, fields }: LogNames,
    entries: readonly StoredEntry[],
    lines: ReadonlyMap<number, SampledRecord[]>,
    texts: TextOptions,
  ): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>()
    const wanted = new Map<string, Set<RecordId>>()
    for (const entry of entries) {
      const own = lines.get(entry.id) ?? []
      const range = rangeOf(entry)
      const id = range && range.from === range.to ? range.from : own[0]?.record_id
      if (entry.tableId === null || id === undefined) continue
      wanted.set(entry.tableId, (wanted.get(entry.tableId) ?? new Set()).add(id))
    }
    for (const [tableId, ids] of wanted) {
      const isLive = tables.get(tableId)?.deletedAt === null
      const opened = isLive
        ? await opening(() => reader.open(actor, tableId, undefined, texts.timeZone))
        : null
      const display =
        opened?.model.displayField ??
        [...fields.values()].find((field) => field.tableId === tableId && field.isDisplay)
      if (!display) continue
      const text = (value: Values[string]) => cellText(display, value, texts)
      for (const { record_id, before } of await valuesWhenDeleted(engine, tableId, [...ids]))
        names.set(`${tableId} ${record_id}`, text(JSON.parse(before)[display.id] ?? null))
      if (!opened) continue
      const recordIds = [...ids].map((id) => storedId(opened.model, id))
      const page = await opening(() =>
        reader.page(opened, { tableId, recordIds, limit: recordIds.length, offset: 0 }, [
          opened.model.displayField,
        ]),
      )
      page?.ids.forEach((id, at) => {
        names.set(`${tableId} ${id}`, text(page.rows[at]?.[0] ?? null))
      })
    }
    return names
  }

  return describe
}

/** The names and values that labels of entries show. */
interface Named {
  names: LogNames
  /** View titles by id. */
  titles: ReadonlyMap<string, string>
  /** Changed records by entry. */
  lines: ReadonlyMap<number, SampledRecord[]>
  texts: TextOptions
  /** Record names by `tableId recordId`. */
  records: ReadonlyMap<string, string>
  /** Names of connected databases by id. */
  sources: ReadonlyMap<string, string | null>
}

function actionOf(
  entry: StoredEntry,
  { names, titles, lines, texts, records, sources }: Named,
  scope: ActionScope,
): Action {
  const [line] = lines.get(entry.id) ?? []
  const count = line?.total || entry.records
  const ids = (entry.detail ?? {}) as { viewId?: string; fieldId?: string; sourceId?: string }
  const table = entry.tableId === null ? undefined : names.tables.get(entry.tableId)
  const viewId = ids.viewId ?? null
  const viewTitle = viewId === null ? null : (titles.get(viewId) ?? null)
  const fieldTitle = (id: string) => short(names.fields.get(id)?.title ?? keptTitle(entry, id))
  return {
    id: entry.id,
    at: entry.at,
    actorId: entry.actorId,
    kind: entry.kind,
    label: labelOf({
      kind: entry.kind,
      records: count,
      table: short(tableTitle(entry, table)),
      view: short(viewTitle ?? 'deleted view'),
      field: ids.fieldId === undefined ? '' : fieldTitle(ids.fieldId),
      source: short((ids.sourceId && sources.get(ids.sourceId)) || 'the database'),
      record: count === 1 ? recordName(records, entry, line) : null,
      values: valuesOf(names, entry, line, texts),
      detail: entry.detail,
      fieldTitle,
    }),
    further: 0,
    tableId: entry.tableId,
    tableTitle: table?.title ?? null,
    viewId,
    viewTitle,
    records: count,
    state: entry.undoneBy === null ? 'done' : entry.undoneBy < 0 ? 'final' : 'undone',
    confirm: confirmReason(entry, count, viewId, scope),
  }
}

/** Null if a connected database does not respond or a field cannot be read: a name must not prevent undo. */
async function opening<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function keepTitle(titles: Map<string, string>, detail: unknown): void {
  const { viewId, stored, after } = (detail ?? {}) as {
    viewId?: string
    stored?: { row?: { title?: string } }
    after?: { title?: string }
  }
  const title = stored?.row?.title ?? after?.title
  if (viewId !== undefined && title !== undefined && !titles.has(viewId)) titles.set(viewId, title)
}

/** The title in the entry itself, for objects that are gone from the metadata. */
function keptTitle({ detail }: StoredEntry, fieldId: string): string {
  const kept = (detail ?? {}) as { fieldId?: string; title?: string; before?: { title?: string } }
  const isOwn = kept.fieldId === fieldId
  return (isOwn && (kept.title ?? kept.before?.title)) || 'deleted field'
}

function tableTitle({ detail }: StoredEntry, table: Table | undefined): string {
  return table?.title ?? (detail as { tableTitle?: string } | null)?.tableTitle ?? 'deleted table'
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 1)}…` : line
}

function recordName(
  names: ReadonlyMap<string, string>,
  entry: StoredEntry,
  line: SampledRecord | undefined,
): string | null {
  const range = rangeOf(entry)
  const id = line?.record_id ?? range?.from
  if (id === undefined) return null
  return short(names.get(`${entry.tableId} ${id}`) ?? '') || `#${id}`
}

/** The fields that an entry changed in its first record, without system fields. */
function valuesOf(
  { fields }: LogNames,
  entry: StoredEntry,
  line: SampledRecord | undefined,
  texts: TextOptions,
): LabelledValue[] {
  const listed = (entry.detail as { fields?: string[] } | null)?.fields
  if (!line) return (listed ?? []).map((id) => ({ field: titleOf(fields, id), before: null, after: null }))
  if (line.before === null || line.after === null) return []
  const [before, after] = [line.before, line.after].map((json): Values => JSON.parse(json))
  if (!before || !after) return []
  // A link stored in a key column is listed once, as the link.
  const keys = new Set([...fields.values()].flatMap((field) => linkOf(field)?.keyFieldId ?? []))
  return Object.keys(after).flatMap((id): LabelledValue[] => {
    const field = fields.get(id)
    if (!field || field.isSystem || field.isPrimaryKey) return []
    if (linkOf(field)) {
      const { linked = [], unlinked = [] } = JSON.parse(String(after[id] ?? '{}')) as {
        linked?: unknown[]
        unlinked?: unknown[]
      }
      const counts = { added: linked.length, removed: unlinked.length }
      return [{ field: short(field.title), before: null, after: null, linked: counts }]
    }
    if (keys.has(id) || (before[id] ?? null) === (after[id] ?? null)) return []
    return [
      {
        field: short(field.title),
        before: valueText(field, before[id] ?? null, texts),
        after: valueText(field, after[id] ?? null, texts),
      },
    ]
  })
}

const titleOf = (fields: LogNames['fields'], id: string): string =>
  short(fields.get(id)?.title ?? 'deleted field')

/** A value as text; passwords are masked. */
function valueText(field: Field, value: Values[string], texts: TextOptions): string {
  if (value === null) return ''
  if (isPasswordHash(value)) return PASSWORD_MASK
  return short(cellText(field, value, texts))
}

/** Why undoing an entry from the screen of `scope` needs a confirmation; null if it does not. */
function confirmReason(
  { kind, tableId, detail }: StoredEntry,
  records: number,
  viewId: string | null,
  scope: ActionScope,
): ConfirmReason | null {
  const imported = (detail as { imported?: number } | null)?.imported
  if (kind === 'records.import' || imported !== undefined) return 'import'
  const [owner] = kind.split('.')
  const isLight =
    owner === 'records' ||
    kind === 'view.update' ||
    kind === 'view.arrange' ||
    (kind === 'field.update' && isOptionsChange(detail))
  if (!isLight) return 'structure'
  if (records > CONFIRM_RECORDS) return 'many'
  if (tableId === null || tableId !== scope.tableId) return 'elsewhere'
  // Changes of another view are not visible on screen.
  return viewId !== null && viewId !== scope.viewId ? 'elsewhere' : null
}
