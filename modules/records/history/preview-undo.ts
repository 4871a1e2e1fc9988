import type { Action } from '../../../src/core/actions.ts'
import type { Actor, UserActor } from '../../../src/core/actor.ts'
import type { Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Person, RecordId } from '../../../src/core/model.ts'
import type { StoredEntry } from '../../../src/db/change-log/entry.ts'
import { type LaterChange, laterChanges } from '../../../src/db/change-log/later-changes.ts'
import { listedRecords } from '../../../src/db/change-log/records.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { AuthService } from '../../auth/index.ts'
import { definitionsAt, fieldChangesSince, type SchemaReader, type TableModel } from '../../schema/index.ts'
import type { LinkSchema } from '../links/index.ts'
import { type Reader, recordNames } from '../read/index.ts'
import { formerFields, presentJson } from '../rows/index.ts'
import { rangeOf, storedId } from '../table/index.ts'
import type { createUndo } from './undo.ts'

/** Later changes that a preview reads; of more, it says that there are more. */
const MAX_LATER = 5_000
/** What stays, as a preview lists it one by one. */
const MAX_LISTED = 100

/** A value or record that stays as it is, because someone changed it after the action. */
export interface KeptItem {
  tableId: string
  recordId: RecordId
  /** The text of the record's display field; empty for a record that is gone. */
  recordTitle: string
  /** Null for a record that the action added and someone has changed since, or that someone has deleted. */
  fieldTitle: string | null
  isDeleted: boolean
  actorId: string | null
  at: string
}

/** What undoing an action does. */
export interface UndoPreview {
  action: Action
  /** The records that it adds again, changes and deletes, without those that stay. */
  added: number
  changed: number
  deleted: number
  kept: {
    total: number
    /** True if there may be more, and by more people. */
    isPartial: boolean
    /** The first of them. */
    items: KeptItem[]
    by: { actorId: string | null; count: number }[]
  }
  people: Person[]
}

interface Deps {
  auth: Pick<AuthService, 'people'>
  schema: LinkSchema & Pick<SchemaReader, 'tables'>
  reader: Pick<Reader, 'open' | 'page'>
  undo: Pick<ReturnType<typeof createUndo>, 'openAction' | 'describeAction'>
}

/** Tells what undoing an action would change, and what stays because of later changes. */
export function createUndoPreview({ auth, schema, reader, undo }: Deps) {
  /**
   * @param timeZone of times in names; by default UTC
   * @throws as `undo`
   */
  return async function preview(
    actor: Actor,
    baseId: string,
    entryId: number,
    timeZone = 'UTC',
  ): Promise<UndoPreview> {
    const { user, engine, entries } = await undo.openAction(actor, baseId, entryId)
    const action = await undo.describeAction(user, baseId, engine, entries, { timeZone })
    if (!action) throw new Error(`Entry ${entryId} has no description`)
    const counts = { added: 0, changed: 0, deleted: 0 }
    const kept: Kept[] = []
    let isPartial = false
    for (const entry of entries.filter(({ kind }) => kind.startsWith('records.'))) {
      for (const [key, count] of Object.entries(await sizeOf(engine, entry))) {
        counts[key as keyof typeof counts] += count
      }
      const except = entries.map(({ id }) => id)
      const range = rangeOf(entry)
      const later = await laterChanges(engine, entry, { range, except, limit: MAX_LATER + 1 })
      if (later.length > MAX_LATER) isPartial = true
      const changes = await withPresentChoices(engine, entry, later.slice(0, MAX_LATER))
      for (const one of await keptOf(schema, changes)) kept.push(one)
    }
    const keptRecords = (isAdded: boolean) =>
      kept.filter((one) => one.wasAdded === isAdded && one.isWhole).length
    counts.deleted = Math.max(0, counts.deleted - keptRecords(true))
    counts.changed = Math.max(0, counts.changed - keptRecords(false))
    const by = [...Map.groupBy(kept, ({ actorId }) => actorId)].map(([actorId, list]) => ({
      actorId,
      count: list.length,
    }))
    const items = await named(user, kept.slice(0, MAX_LISTED), timeZone)
    const people = await auth.people(by.flatMap(({ actorId }) => actorId ?? []))
    return { action, ...counts, kept: { total: kept.length, isPartial, items, by }, people }
  }

  /** The later changes, with what the entry replaced and wrote as its options are called now. */
  async function withPresentChoices(
    engine: Engine,
    { id, tableId }: StoredEntry,
    later: readonly LaterChange[],
  ): Promise<readonly LaterChange[]> {
    if (later.length === 0 || tableId === null) return later
    const model = await schema.loadWithKeys(tableId).catch(onlyMissing)
    if (!model) return later
    const former = formerFields(model, definitionsAt(await fieldChangesSince(engine, tableId, id))(id))
    return later.map((one) => ({
      ...one,
      own_before: presentJson(one.own_before, former),
      own_after: presentJson(one.own_after, former),
    }))
  }

  /** The records of an entry's own table, by what undoing does to them. */
  async function sizeOf(
    engine: Engine,
    entry: StoredEntry,
  ): Promise<{ added: number; changed: number; deleted: number }> {
    const range = rangeOf(entry)
    if (range) return { added: 0, changed: 0, deleted: range.to - range.from + 1 }
    const listed = await listedRecords(
      engine,
      { from: entry.id, to: entry.id },
      { scan: entry.records > MAX_LATER },
    )
    const own = (listed.get(entry.id) ?? []).filter(({ tableId }) => tableId === entry.tableId)
    return own.reduce(
      (sum, one) => ({
        added: sum.added + one.deleted,
        changed: sum.changed + one.updated,
        deleted: sum.deleted + one.inserted,
      }),
      { added: 0, changed: 0, deleted: 0 },
    )
  }

  async function named(user: UserActor, kept: readonly Kept[], timeZone: string): Promise<KeptItem[]> {
    const titles = new Map<string, string>()
    for (const [tableId, ofTable] of Map.groupBy(kept, (one) => one.tableId)) {
      const opened = await reader.open(user, tableId, undefined, timeZone).catch(onlyMissing)
      if (!opened) continue
      const ids = ofTable.map(({ recordId }) => recordId)
      for (const [id, name] of await recordNames(reader, opened, ids)) titles.set(`${tableId} ${id}`, name)
    }
    return kept.map(({ isWhole: _, wasAdded: __, ...one }) => ({
      ...one,
      recordTitle: titles.get(`${one.tableId} ${one.recordId}`) ?? '',
    }))
  }
}

interface Kept extends Omit<KeptItem, 'recordTitle'> {
  /** True if nothing of the record changes. */
  isWhole: boolean
  /** True if the action added the record. */
  wasAdded: boolean
}

/** What stays of an entry, from the later changes of its records, newest first. */
async function keptOf(schema: LinkSchema, later: readonly LaterChange[]): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const [tableId, ofTable] of Map.groupBy(later, ({ table_id }) => table_id)) {
    const model = await schema.loadWithKeys(tableId).catch(onlyMissing)
    // Pairs are added and removed, but never changed.
    if (!model || model.table.isJunction) continue
    for (const ofRecord of Map.groupBy(ofTable, ({ record_id }) => String(record_id)).values()) {
      kept.push(...keptOfRecord(model, ofRecord))
    }
  }
  return kept
}

function keptOfRecord(model: TableModel, later: readonly LaterChange[]): Kept[] {
  const [newest] = later
  if (!newest) return []
  const recordId = storedId(model, newest.record_id)
  const itemOf = (change: LaterChange, fieldTitle: string | null, isWhole: boolean): Kept => ({
    tableId: model.table.id,
    recordId,
    fieldTitle,
    isDeleted: change.after === null,
    actorId: change.actor_id,
    at: change.at,
    isWhole,
    wasAdded: newest.own_before === null,
  })
  if (newest.after === null) return newest.own_before === null ? [] : [itemOf(newest, null, true)]
  // A record of a range has neither; one that was deleted and restored since is there already.
  if (newest.own_before === null || newest.own_after === null) return [itemOf(newest, null, true)]
  const [before, after] = [newest.own_before, newest.own_after].map((text): Values => JSON.parse(text))
  const links = new Map(
    model.fields.flatMap((field) => {
      const keyId = linkOf(field)?.keyFieldId
      return keyId ? [[keyId, field.title] as const] : []
    }),
  )
  const isChanged = (id: string) => (before?.[id] ?? null) !== (after?.[id] ?? null)
  const shown = Object.keys(before ?? {}).filter((id) => model.field(id)?.isSystem === false && isChanged(id))
  const items = shown.flatMap((id) => {
    const change = later.find((one) => one.after !== null && id in (JSON.parse(one.after) as Values))
    if (!change?.after) return []
    const now = (JSON.parse(change.after) as Values)[id] ?? null
    if (now === (after?.[id] ?? null) || now === (before?.[id] ?? null)) return []
    return [itemOf(change, links.get(id) ?? model.field(id)?.title ?? id, false)]
  })
  const isWhole = items.length === shown.length
  return items.map((item, index) => ({ ...item, isWhole: isWhole && index === 0 }))
}

function onlyMissing(error: unknown): null {
  if (error instanceof AppError && (error.status === 404 || error.code === 'DATABASE_UNREACHABLE'))
    return null
  throw error
}
