import { breathe } from '../../src/breathe.ts'
import type { UserActor } from '../../src/core/actor.ts'
import { type Values, viewOfPositionKey } from '../../src/core/changes.ts'
import { isComputed } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { idsIn, ME } from '../../src/core/fields/people.ts'
import { notifiesPeople } from '../../src/core/fields/traits.ts'
import { type Filter, fieldsOf, filterTester } from '../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { NotificationDetail } from '../../src/core/notifications.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Notice } from '../../src/notices.ts'
import type { AuthService } from '../auth/index.ts'
import {
  type FeedBatch,
  type FeedConsumer,
  type FeedCursor,
  type FeedEntry,
  type FeedRecord,
  type FeedTable,
  idOfKey,
  keyFieldsOf,
  pageOfEntry,
  type RecordsService,
} from '../records/index.ts'
import type { SchemaReader, TableModel } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import type { createNotices } from './notices.ts'
import { unlessRefused } from './presenter.ts'
import type { NotificationSettings } from './settings.ts'
import type { NotificationRow, NotificationStore } from './store.ts'
import type { Watches, WatchRow } from './watches.ts'

/** Records of an entry per read. */
const PAGE = 500
/** Records of an entry that are compared with the filters of watched views; of larger entries only their number is told. */
const MAX_COMPARED = 5_000
/** Assigned records that are remembered by id while a batch is read; others are counted. */
const MAX_ASSIGNED = 20_000
/** Records of one entry that a person begins to watch because of an assignment. */
const MAX_WATCHED_AT_ONCE = 20
/** Fields that a notification of a watched record names. */
const MAX_FIELDS = 20

/** Kinds of entries that bring back earlier values. */
const RESTORING: ReadonlySet<string> = new Set(['records.restore', 'records.rewind'])

interface Deps {
  auth: Pick<AuthService, 'access' | 'actorOf'>
  schema: Pick<SchemaReader, 'load'>
  views: Pick<ViewsService, 'load'>
  records: Pick<RecordsService, 'open' | 'ids' | 'titledByIds'>
  store: NotificationStore
  settings: NotificationSettings
  watches: Watches
  notices: ReturnType<typeof createNotices>
}

/** Records that a person was assigned to by one action, in one field. */
interface Assignment {
  userId: string
  tableId: string
  fieldId: string
  entry: FeedEntry
  recordIds: Set<string>
  /** Records beyond `MAX_ASSIGNED`. */
  more: number
}

/** A person who is not assigned to a record any more. */
interface Removal {
  userId: string
  tableId: string
  fieldId: string
  recordId: string
}

/** What changed in a record or view that a person watches. */
interface WatchedChange {
  watch: WatchRow
  entry: FeedEntry
  count: number
  detail: NotificationDetail
}

/** What a batch of entries leads to. */
interface Findings {
  assignments: Map<string, Assignment>
  removals: Removal[]
  watched: Map<string, WatchedChange>
  /** References of the entries that were undone. */
  undone: string[]
}

const entryRef = (baseId: string, entryId: number): string => `entry ${baseId} ${entryId}`

/**
 * Notifies of assignments and of changes of what people watch, from the entries of the change logs: exactly once,
 * whatever is killed meanwhile.
 */
export function createChangeNotices(kernel: Pick<Kernel, 'sources'>, deps: Deps): FeedConsumer {
  const { auth, schema, views, records, store, settings, watches, notices } = deps
  /** Tells those whose notifications the last batch of a base changes, once it is stored. */
  const toTell = new Map<string, () => void>()

  /** The records of an entry in a table, page by page. Those of a large insert get the values of `fields`. */
  async function* recordsOf(engine: Engine, model: TableModel, entry: FeedEntry, fields: Field[]) {
    let after: FeedCursor | null = null
    do {
      const page: { records: FeedRecord[]; next: FeedCursor | null } = await pageOfEntry(
        engine,
        model,
        entry,
        { after, limit: PAGE },
      )
      yield await withInserted(model, page.records, fields)
      after = page.next
      await breathe()
    } while (after !== null)
  }

  /** The log has no values of records that were inserted as a range of ids: reads those of some fields. */
  async function withInserted(
    model: TableModel,
    page: readonly FeedRecord[],
    fields: Field[],
  ): Promise<FeedRecord[]> {
    const isListed = ({ before, after }: FeedRecord) =>
      before !== null || after === null || Object.keys(after).length > 0
    const bare = page.filter((record) => !isListed(record)).map(({ recordId }) => recordId)
    if (bare.length === 0 || fields.length === 0) return [...page]
    const owner = await ownerOf(model.table.baseId)
    if (!owner) return [...page]
    const values = await currentValues(owner, model, bare, fields)
    return page.map((record) =>
      isListed(record) ? record : { ...record, after: values.get(String(record.recordId)) ?? {} },
    )
  }

  async function ownerOf(baseId: string): Promise<UserActor | null> {
    const owner = (await auth.access.members(baseId)).find(({ role }) => role === 'owner')
    return owner ? auth.actorOf(owner.user.id) : null
  }

  /** The present values of records that exist, by the text of their id. */
  async function currentValues(
    actor: UserActor,
    model: TableModel,
    recordIds: readonly RecordId[],
    fields: readonly Field[],
  ): Promise<Map<string, Values>> {
    const keys = keyFieldsOf(model)
    const wanted = [...keys, ...fields.filter((field) => !keys.includes(field))]
    const rows = await records.titledByIds(await records.open(actor, model.table.id), recordIds, wanted)
    return new Map(
      rows.map((row) => [
        String(idOfKey(keys.map(({ title }) => row[title]))),
        Object.fromEntries(fields.map(({ id, title }) => [id, (row[title] ?? null) as CellValue])),
      ]),
    )
  }

  /** Notes who was assigned and who was removed by a change of a record. */
  function noteAssignments(
    entry: FeedEntry,
    model: TableModel,
    { recordId, before, after }: FeedRecord,
    fields: readonly Field[],
    { assignments, removals }: Findings,
  ): void {
    // What undo or a restore brings back was told when it was done.
    const isNew = entry.undoes === null && !RESTORING.has(entry.kind)
    const tableId = model.table.id
    for (const { id: fieldId } of fields) {
      if (before?.[fieldId] === undefined && after?.[fieldId] === undefined) continue
      const earlier = idsIn(before?.[fieldId] ?? null)
      const later = idsIn(after?.[fieldId] ?? null)
      for (const userId of earlier.filter((id) => !later.includes(id))) {
        removals.push({ userId, tableId, fieldId, recordId: String(recordId) })
        for (const one of assignments.values())
          if (one.userId === userId && one.fieldId === fieldId) one.recordIds.delete(String(recordId))
      }
      if (!isNew) continue
      // Of a large insert only the present values are known, which a later entry may have written.
      const isKnown = (userId: string) =>
        [...assignments.values()].some(
          (one) => one.userId === userId && one.fieldId === fieldId && one.recordIds.has(String(recordId)),
        )
      for (const userId of later.filter((id) => !earlier.includes(id) && !isKnown(id))) {
        const key = `assigned ${entry.actionId ?? entry.id} ${fieldId} ${userId}`
        const known = assignments.get(key) ?? {
          userId,
          tableId,
          fieldId,
          entry,
          recordIds: new Set(),
          more: 0,
        }
        if (known.recordIds.size < MAX_ASSIGNED) known.recordIds.add(String(recordId))
        else known.more++
        assignments.set(key, known)
      }
    }
  }

  /** The fields that people see changing; null if nothing of the record itself did. */
  function changedFields(model: TableModel, { before, after }: FeedRecord): string[] | null {
    if (before === null || after === null) return []
    const keys = Object.keys(after).filter((key) => viewOfPositionKey(key) === null)
    const fieldIds = keys.filter((key) => {
      const field = model.field(key)
      return field && !field.isSystem && fieldType(field.type).readOnly !== true
    })
    return fieldIds.length > 0 ? fieldIds : null
  }

  function noteWatched(
    watch: WatchRow,
    entry: FeedEntry,
    detail: NotificationDetail,
    findings: Findings,
  ): void {
    if (watch.userId === entry.actorId) return
    const key = keyOfWatch(watch)
    const known = findings.watched.get(key)
    findings.watched.set(key, {
      watch,
      entry,
      count: (known?.count ?? 0) + 1,
      detail: known ? merged(known.detail, detail) : detail,
    })
  }

  async function takeTable(
    engine: Engine,
    entry: FeedEntry,
    model: TableModel,
    { inserted, updated, deleted }: FeedTable,
    own: readonly WatchRow[],
    findings: Findings,
  ): Promise<void> {
    const notifying = model.fields.filter(notifiesPeople)
    const byRecord = Map.groupBy(
      own.filter(({ kind }) => kind === 'record'),
      ({ targetId }) => targetId,
    )
    const byView = Map.groupBy(
      own.filter(({ kind, userId }) => kind === 'view' && userId !== entry.actorId),
      ({ targetId }) => targetId,
    )
    if (notifying.length === 0 && byRecord.size === 0 && byView.size === 0) return
    const total = inserted + updated + deleted
    if (notifying.length === 0 && byRecord.size === 0 && total > MAX_COMPARED) {
      for (const watch of [...byView.values()].flat()) noteWatched(watch, entry, { changed: total }, findings)
      return
    }
    const compared: FeedRecord[] = []
    let changed = 0
    for await (const page of recordsOf(engine, model, entry, notifying)) {
      for (const record of page) {
        if (notifying.length > 0) noteAssignments(entry, model, record, notifying, findings)
        const fieldIds = changedFields(model, record)
        if (fieldIds === null) continue
        changed++
        const detail = { fieldIds: fieldIds.slice(0, MAX_FIELDS), isDeleted: record.after === null }
        for (const watch of byRecord.get(String(record.recordId)) ?? [])
          noteWatched(watch, entry, detail, findings)
        if (byView.size > 0 && compared.length <= MAX_COMPARED) compared.push(record)
      }
    }
    if (changed === 0) return
    for (const [viewId, watching] of byView) {
      if (changed > MAX_COMPARED) {
        for (const watch of watching) noteWatched(watch, entry, { changed }, findings)
      } else await compareView(model, viewId, watching, entry, compared, findings)
    }
  }

  /** Compares changed records with the filter of a watched view. */
  async function compareView(
    model: TableModel,
    viewId: string,
    watching: readonly WatchRow[],
    entry: FeedEntry,
    changed: readonly FeedRecord[],
    findings: Findings,
  ): Promise<void> {
    const view = await unlessRefused(() => views.load(viewId))
    if (!view) return
    // A filter that names the reader differs for each.
    const isPersonal = JSON.stringify(view.filter ?? null).includes(ME)
    let shared: NotificationDetail | null = null
    for (const watch of watching) {
      const actor: UserActor | null = shared === null || isPersonal ? await auth.actorOf(watch.userId) : null
      if (actor) {
        const compared: NotificationDetail | null = await unlessRefused(() =>
          compareFor(actor, model, viewId, view.filter, changed),
        )
        if (compared === null) continue
        shared = compared
      }
      if (shared && (shared.entered || shared.changed || shared.left))
        noteWatched(watch, entry, shared, findings)
    }
  }

  async function compareFor(
    actor: UserActor,
    model: TableModel,
    viewId: string,
    filter: Filter | null,
    changed: readonly FeedRecord[],
  ): Promise<NotificationDetail> {
    const tableId = model.table.id
    const present = changed.filter(({ after }) => after !== null).map(({ recordId }) => recordId)
    const opened = await records.open(actor, tableId, viewId)
    const found =
      present.length === 0 ? [] : await records.ids(opened, { tableId, viewId, recordIds: present })
    const inView = new Set(found.map(String))
    const wasIn = await earlierTester(actor, model, filter, present)
    const detail = { entered: 0, changed: 0, left: 0 }
    for (const record of changed) {
      const is = inView.has(String(record.recordId))
      const was = record.before !== null && (wasIn(record) ?? (is || record.after === null))
      if (is && was) detail.changed++
      else if (is) detail.entered++
      else if (was) detail.left++
    }
    return detail
  }

  /**
   * A test of whether a record met a filter before its change; null where the log does not tell, because the filter reads
   * computed fields.
   */
  async function earlierTester(
    actor: UserActor,
    model: TableModel,
    filter: Filter | null,
    present: readonly RecordId[],
  ): Promise<(record: FeedRecord) => boolean | null> {
    if (filter === null) return () => true
    const fields = fieldsOf(filter).map((id) => model.field(id))
    const stored = fields.flatMap((field) => (field && !isComputed(field) ? [field] : []))
    if (stored.length < fields.length) return () => null
    const current = await currentValues(actor, model, present, stored)
    const { context } = await records.open(actor, model.table.id)
    const test = filterTester(filter, { ...context.moment, field: (id) => model.field(id) })
    return ({ recordId, before }) => test({ ...current.get(String(recordId)), ...before })
  }

  /** The ids of unread notifications of assignments that were taken back. */
  async function obsolete(baseId: string, removals: readonly Removal[]): Promise<NotificationRow[]> {
    if (removals.length === 0) return []
    const keyOf = (one: Omit<Removal, 'recordId'> & { recordId: string | null }) =>
      `${one.userId} ${one.tableId} ${one.fieldId} ${one.recordId}`
    const removed = new Set(removals.map(keyOf))
    const userIds = [...new Set(removals.map(({ userId }) => userId))]
    const unread = await store.unreadInBase(baseId, ['assigned'], userIds)
    return unread.filter(({ userId, tableId, fieldId, recordId }) =>
      removed.has(keyOf({ userId, tableId: tableId ?? '', fieldId: fieldId ?? '', recordId })),
    )
  }

  const assignedNotices = (baseId: string, assignments: ReadonlyMap<string, Assignment>): Notice[] =>
    [...assignments]
      .filter(([, { recordIds }]) => recordIds.size > 0)
      .map(([key, { userId, tableId, fieldId, entry, recordIds, more }]) => ({
        kind: 'assigned',
        userId,
        key: `${baseId} ${key}`,
        accumulates: true,
        actorId: entry.actorId,
        baseId,
        tableId,
        fieldId,
        recordId: recordIds.size === 1 ? ([...recordIds][0] ?? null) : null,
        ref: entryRef(baseId, entry.id),
        count: recordIds.size + more,
        at: entry.at,
      }))

  /** Adds to the unread notification of the same record or view, if there is one. */
  async function watchedNotices(baseId: string, changes: Iterable<WatchedChange>): Promise<Notice[]> {
    const all = [...changes]
    if (all.length === 0) return []
    const unread = new Map(
      (
        await store.unreadInBase(
          baseId,
          ['recordChanged', 'viewChanged'],
          [...new Set(all.map(({ watch }) => watch.userId))],
        )
      ).map((row) => [keyOfRow(row), row]),
    )
    return all.map(({ watch, entry, count, detail }) => {
      const { userId, tableId, kind, targetId } = watch
      const earlier = unread.get(keyOfWatch(watch))
      return {
        kind: kind === 'record' ? 'recordChanged' : 'viewChanged',
        userId,
        key: earlier?.key ?? `${baseId} ${kind} ${tableId} ${targetId} ${entry.id}`,
        accumulates: true,
        actorId: entry.actorId,
        baseId,
        tableId,
        recordId: kind === 'record' ? targetId : null,
        viewId: kind === 'view' ? targetId : null,
        count,
        detail: earlier ? merged(earlier.detail, detail) : detail,
        at: entry.at,
      }
    })
  }

  /** Begins to watch for those who want to watch what they are assigned to. */
  async function watchAssigned(baseId: string, assignments: Iterable<Assignment>) {
    const all = [...assignments]
    const settingsOf = await settings.effective([...new Set(all.map(({ userId }) => userId))], baseId)
    return watches.adding(
      all
        .filter(({ userId }) => settingsOf(userId).watchesOwn)
        .flatMap(({ userId, tableId, recordIds }) =>
          [...recordIds]
            .slice(0, MAX_WATCHED_AT_ONCE)
            .map((targetId) => ({ userId, baseId, tableId, targetId })),
        ),
    )
  }

  return {
    name: 'notifications',

    async take({ baseId, entries }: FeedBatch) {
      toTell.delete(baseId)
      const engine = await kernel.sources.engine(baseId)
      const tableIds = [...new Set(entries.flatMap(({ tables }) => tables.map(({ tableId }) => tableId)))]
      const own = Map.groupBy(await watches.ofTables(tableIds), ({ tableId }) => tableId)
      const findings: Findings = { assignments: new Map(), removals: [], watched: new Map(), undone: [] }
      for (const entry of entries) {
        if (entry.undoes !== null) {
          findings.undone.push(entryRef(baseId, entry.undoes))
          for (const [key, one] of findings.assignments)
            if (one.entry.id === entry.undoes) findings.assignments.delete(key)
        }
        for (const touched of entry.tables) {
          const model = await unlessRefused(() => schema.load(touched.tableId))
          if (model) await takeTable(engine, entry, model, touched, own.get(touched.tableId) ?? [], findings)
        }
      }
      const obsoleteRows = await obsolete(baseId, findings.removals)
      const withdrawn = await store.recipientsOf(findings.undone)
      const prepared = await notices.prepare([
        ...assignedNotices(baseId, findings.assignments),
        ...(await watchedNotices(baseId, findings.watched.values())),
      ])
      toTell.set(baseId, () => {
        prepared.stored()
        notices.tell([...withdrawn, ...obsoleteRows.map(({ userId }) => userId)])
      })
      return [
        ...store.removeIds(obsoleteRows.map(({ id }) => id)),
        ...(withdrawn.length > 0 ? store.withdraw(findings.undone) : []),
        ...prepared.statements,
        ...(await watchAssigned(baseId, findings.assignments.values())),
      ]
    },

    stored(baseId) {
      toTell.get(baseId)?.()
      toTell.delete(baseId)
    },
  }
}

const keyOfWatch = ({ userId, tableId, kind, targetId }: WatchRow): string =>
  `${userId} ${tableId} ${kind} ${targetId}`

const keyOfRow = ({ userId, tableId, recordId, viewId }: NotificationRow): string =>
  recordId === null ? `${userId} ${tableId} view ${viewId}` : `${userId} ${tableId} record ${recordId}`

/** Two changes of the same record or view as one. */
function merged(earlier: NotificationDetail, later: NotificationDetail): NotificationDetail {
  const sum = (one = 0, other = 0) => one + other
  return {
    fieldIds: [...new Set([...(earlier.fieldIds ?? []), ...(later.fieldIds ?? [])])].slice(0, MAX_FIELDS),
    isDeleted: later.isDeleted ?? false,
    entered: sum(earlier.entered, later.entered),
    changed: sum(earlier.changed, later.changed),
    left: sum(earlier.left, later.left),
  }
}
