import type { ActivityItem, ActivityKind } from '../../../src/core/activity.ts'
import type { Actor } from '../../../src/core/actor.ts'
import type { Values } from '../../../src/core/changes.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import { cellText } from '../../../src/core/fields/cell-text.ts'
import type { Person, RecordId } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { listEntries, listRanges } from '../../../src/db/change-log/entries.ts'
import { findEntries, findEntry, type StoredEntry } from '../../../src/db/change-log/entry.ts'
import { listedRecords } from '../../../src/db/change-log/records.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import { type FeedCursor, pageOfEntry, tablesOfEntry } from '../feed/index.ts'
import { changesOf, type Describe, type HistoryEntry, isInRange, joinActions } from '../history/index.ts'
import { type LinkSchema, removedLinks } from '../links/index.ts'
import { type Reader, recordNames } from '../read/index.ts'
import { maskValues, rangeOf, storedId } from '../table/index.ts'

/** Entries with more records are read as a read over a whole table. */
const LARGE = 5_000

/** What the log is asked for. */
export interface LogFilter {
  actorId?: string
  tableId?: string
  record?: { tableId: string; recordId: RecordId }
  kinds?: readonly ActivityKind[]
  /** ISO 8601, both inclusive. */
  from?: string
  to?: string
}

export type LoggedItem = Extract<ActivityItem, { kind: 'change' }>

/** A record that an entry touched. */
export interface EntryRecord {
  recordId: RecordId
  /** The text of its display field, now or when it was deleted. */
  title: string
  did: 'added' | 'changed' | 'deleted'
  /** False if it is deleted now. */
  exists: boolean
  changes: HistoryEntry['changes']
}

interface Deps {
  kernel: Pick<Kernel, 'sources'>
  auth: Pick<AuthService, 'access'>
  schema: LinkSchema & Pick<SchemaReader, 'tables'>
  reader: Pick<Reader, 'open' | 'page'>
  describe: Describe
}

/** Reads the log for everyone who may see the base: without entries of tables that the caller does not see. */
export function createActivity({ kernel, auth, schema, reader, describe }: Deps) {
  /**
   * A page of the entries before an id, newest first.
   *
   * @throws BASE_NOT_FOUND, PERMISSION_DENIED
   */
  async function list(
    actor: Actor,
    baseId: string,
    filter: LogFilter,
    { before, limit, timeZone }: { before: number; limit: number; timeZone?: string },
  ): Promise<{ items: LoggedItem[]; next: number | null }> {
    await auth.access.authorize(actor, 'base.activity', baseId)
    const shown = await shownTables(actor, baseId)
    const engine = await kernel.sources.engine(baseId)
    const { record: asked, tableId } = filter
    const hidden = [tableId, asked?.tableId].some((id) => id !== undefined && !shown.ids.has(id))
    if (hidden || filter.kinds?.length === 0) return { items: [], next: null }
    const record = asked && {
      ...asked,
      recordId: storedId(await schema.loadWithKeys(asked.tableId), asked.recordId),
    }
    const entries = await listEntries(engine, {
      ...filter,
      record: record && { ...record, addedBy: await additionsOf(engine, record) },
      tableIds: [...shown.ids],
      seesBase: shown.seesAll,
      patterns: patternsOf(filter.kinds),
      before,
      limit: limit + 1,
    })
    const page = entries.slice(0, limit)
    const items = await present(actor, baseId, engine, page, timeZone)
    return { items, next: entries.length > limit ? (page.at(-1)?.id ?? null) : null }
  }

  /** The entries in order; an undo is described by the action that it takes back. */
  async function present(
    actor: Actor,
    baseId: string,
    engine: Engine,
    entries: readonly StoredEntry[],
    timeZone: string | undefined,
  ): Promise<LoggedItem[]> {
    const originalIds = entries.flatMap((entry) => entry.undoes ?? entry.redoes ?? [])
    const originals = new Map((await findEntries(engine, originalIds)).map((one) => [one.id, one]))
    const subjects = entries.flatMap((entry) => {
      const original = entry.undoes ?? entry.redoes
      const subject = original === null ? entry : originals.get(original)
      return subject ? [{ entry, subject }] : []
    })
    const actions = await describe(
      actor,
      baseId,
      engine,
      subjects.map(({ subject }) => subject),
      { timeZone },
    )
    const joined = joinActions(
      subjects.map(({ entry }) => entry),
      actions,
    )
    return joined.map(({ action, entry }) => ({
      kind: 'change',
      id: `change ${entry.id}`,
      at: entry.at,
      actorId: entry.actorId,
      step: entry.undoes !== null ? 'undid' : entry.redoes !== null ? 'redid' : 'did',
      action,
    }))
  }

  /**
   * The records that an entry touched in one of its tables, with their values before and after, and how many of
   * which tables there are.
   *
   * @throws GENERIC_NOT_FOUND for entries of tables that the actor does not see
   */
  async function records(
    actor: Actor,
    {
      baseId,
      entryId,
      tableId,
      cursor,
      limit,
      timeZone = 'UTC',
    }: {
      baseId: string
      entryId: number
      tableId?: string
      cursor?: FeedCursor | null
      limit: number
      timeZone?: string
    },
  ) {
    await auth.access.authorize(actor, 'base.activity', baseId)
    const shown = await shownTables(actor, baseId)
    const engine = await kernel.sources.engine(baseId)
    const entry = await findEntry(engine, entryId)
    if (!entry || (entry.tableId === null ? !shown.seesAll : !shown.ids.has(entry.tableId))) {
      throw notFound('Action', String(entryId))
    }
    const range = { from: entryId, to: entryId }
    const listed = await listedRecords(engine, range, { scan: entry.records > LARGE })
    const tables = tablesOfEntry(entry, listed.get(entryId) ?? [])
      .filter((table) => shown.titles.has(table.tableId))
      .map((table) => ({ ...table, title: shown.titles.get(table.tableId) ?? '' }))
      .toSorted((a, b) => Number(b.tableId === entry.tableId) - Number(a.tableId === entry.tableId))
    const wanted = tableId === undefined ? tables[0] : tables.find((table) => table.tableId === tableId)
    if (!wanted) return { tables, records: [], people: [], next: null }
    const model = await schema.loadWithKeys(wanted.tableId)
    const page = await pageOfEntry(engine, model, entry, { after: cursor ?? null, limit })
    const { names, people } = await namesOf(
      actor,
      model,
      page.records.map(({ recordId }) => recordId),
      timeZone,
    )
    const deleted = page.records.filter(({ after }) => after === null).map(({ recordId }) => recordId)
    const removed = await removedLinks(engine, schema, model, { changeId: entryId, recordIds: deleted })
    return {
      tables,
      people,
      next: page.next,
      records: page.records.map(({ recordId, before, after }): EntryRecord => {
        const text = (values: Values) => JSON.stringify(maskValues(model, values))
        const title = names.get(String(recordId))
        const former = before?.[model.displayField.id] ?? after?.[model.displayField.id] ?? null
        return {
          recordId,
          title: title ?? cellText(model.displayField, former, { people, timeZone }),
          did: before === null ? 'added' : after === null ? 'deleted' : 'changed',
          exists: title !== undefined,
          changes: changesOf(
            model,
            { before: before && text(before), after: after && text(after) },
            removed.get(String(recordId)),
          ),
        }
      }),
    }
  }

  async function namesOf(
    actor: Actor,
    model: TableModel,
    recordIds: RecordId[],
    timeZone: string,
  ): Promise<{ names: ReadonlyMap<string, string>; people: readonly Person[] }> {
    const opened = await reader.open(actor, model.table.id, undefined, timeZone).catch(onlyUnreachable)
    const names = opened && (await recordNames(reader, opened, recordIds).catch(onlyUnreachable))
    return { names: names ?? new Map(), people: opened?.context.moment.people ?? [] }
  }

  /** The tables whose entries the actor sees: those in the trash only with the right to restore them. */
  async function shownTables(
    actor: Actor,
    baseId: string,
  ): Promise<{ ids: ReadonlySet<string>; titles: ReadonlyMap<string, string>; seesAll: boolean }> {
    const live = await schema.tables(actor, baseId)
    const role = await auth.access.baseRole(actor, baseId)
    const seesAll = roleCan(role, 'table.restore')
    const trashed = seesAll ? await schema.tables(actor, baseId, { trash: true }) : []
    return {
      ids: new Set([...live, ...trashed].map(({ id }) => id)),
      titles: new Map(live.map(({ id, title }) => [id, title])),
      seesAll,
    }
  }

  return { list, records }
}

/** The entries that added a record in a range of ids. */
async function additionsOf(
  engine: Engine,
  { tableId, recordId }: NonNullable<LogFilter['record']>,
): Promise<number[]> {
  const ranges = await listRanges(engine, tableId, Number.MAX_SAFE_INTEGER)
  return ranges.filter((entry) => isInRange(rangeOf(entry), recordId)).map(({ id }) => id)
}

/** The kinds of entries (`like`) that belong to kinds of activity; null for all. */
function patternsOf(kinds: readonly ActivityKind[] | undefined): string[] | null {
  if (kinds === undefined) return null
  return kinds.flatMap((kind) => PATTERNS[kind])
}

const PATTERNS: Record<ActivityKind, string[]> = {
  records: ['records.%', 'undo', 'redo'],
  imports: ['records.import'],
  schema: ['table.%', 'field.%', 'source.%'],
  views: ['view.%'],
  comments: [],
  access: [],
}

function onlyUnreachable(error: unknown): null {
  if (error instanceof AppError && (error.code === 'DATABASE_UNREACHABLE' || error.status === 404))
    return null
  throw error
}
